import { presentAs } from "../../../lib/contract/present-as.ts";
import { Artifact } from "./artifacts.contract.ts";
import type { Offer, Run, RunArtifactDoc, StepDef, StepProgress } from "./runs.model.ts";
import * as shapes from "./shapes.contract.ts";
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
export const presentRun = (run: Run) =>
  presentAs(shapes.Run, run, { steps: run.steps.map((_, index) => stepAt(run, index)) });

export function presentOffer(run_id: string, offer: Offer) {
  return { run_id, ...offer, created_at: iso(offer.created_at), decided_at: iso(offer.decided_at) };
}

export const presentArtifact = (artifact: RunArtifactDoc) =>
  presentAs(Artifact, artifact, { snapshot_object_key: artifact.content_hash });
