import type { Offer, Run, RunArtifactDoc, StepDef, StepProgress } from "./runs.model.ts";
import { deadlineOf } from "./staleness.ts";

const iso = (at: Date | null | undefined) => at?.toISOString() ?? null;

/** Formats a run's step for callers. */
function presentStep(step: StepDef, progress: StepProgress) {
  const { status, attested, waiting } = progress;
  return {
    ...{ ...step, status, attested_criteria: attested },
    ...{ waiting_since: iso(waiting?.since), deadline_at: iso(deadlineOf(step, progress)) },
  };
}

export function stepAt({ steps, progress }: Pick<Run, "steps" | "progress">, index: number) {
  return presentStep(steps[index] as StepDef, progress[index] as StepProgress);
}

export function stepNamed(run: Pick<Run, "steps" | "progress">, step_key: string) {
  return stepAt(
    run,
    run.steps.findIndex((step) => step.step_key === step_key),
  );
}

/** Formats a run for callers. */
export function presentRun(run: Run) {
  return {
    id: run._id,
    goal: run.goal,
    project_id: run.project_id,
    status: run.status,
    initiated_by: run.initiated_by,
    template_id: run.template_id,
    created_at: iso(run.created_at),
    updated_at: iso(run.updated_at),
    steps: run.steps.map((_, index) => stepAt(run, index)),
    success_criteria: run.success_criteria,
    values: run.values ?? {},
    ambiguity_score: run.ambiguity_score,
    ambiguity_notes: run.ambiguity_notes,
    exemplar_ids: run.exemplar_ids,
    outcome: run.outcome,
    closed_by_user_id: run.closed_by_user_id,
    close_note: run.close_note,
    closed_at: iso(run.closed_at),
  };
}

export function presentOffer(run_id: string, offer: Offer) {
  return { run_id, ...offer, created_at: iso(offer.created_at), decided_at: iso(offer.decided_at) };
}

export function presentArtifact({ _id, tenant_id: _, ...artifact }: RunArtifactDoc) {
  return {
    id: _id,
    ...artifact,
    snapshot_object_key: artifact.content_hash,
    snapshotted_at: iso(artifact.snapshotted_at),
    created_at: iso(artifact.created_at),
    updated_at: iso(artifact.updated_at),
  };
}
