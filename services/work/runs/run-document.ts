import { presentAs } from "../../../lib/contract/present-as.ts";
import { Artifact } from "./artifacts.contract.ts";
import type {
  Fact,
  Offer,
  Outbox,
  PlacedFact,
  Run,
  RunArtifactDoc,
  RunDoc,
  StepDef,
  StepProgress,
} from "./runs.model.ts";
import type { RunStatus } from "./shapes.contract.ts";
import * as shapes from "./shapes.contract.ts";
import { deadlineOf } from "./staleness.ts";

/** Returns a stored run with its steps. */
export function opened(doc: RunDoc): Run {
  return { ...doc, steps: withPeople(JSON.parse(doc.plan) as StepDef[], doc.progress) };
}

/** Returns the original steps with their current assignees. */
export function withPeople(steps: StepDef[], progress: readonly StepProgress[]): StepDef[] {
  return steps.map((step, i) => {
    const { assigned_user_id = step.assigned_user_id } = progress[i] as StepProgress;
    return assigned_user_id === step.assigned_user_id ? step : { ...step, assigned_user_id };
  });
}

/** Returns the update from one state of a run to another. Sets only changed fields, because each index costs. */
export function buildUpdate(before: Run, after: Run, also: Partial<Run>, facts: Fact[]) {
  const { status, version, updated_at, stale_check_at, offers, progress, noted, waits } = after;
  const hashes = facts.flatMap(({ snapshots = [] }) => snapshots.map(({ hash }) => hash));
  const checked = stale_check_at?.getTime() !== before.stale_check_at?.getTime();
  return {
    $set: {
      ...{ ...also, version, updated_at, relay_at: updated_at, ...changedSteps(before.progress, progress) },
      [`outbox.${outboxKey(version)}`]: facts,
      ...(status !== before.status && { status }),
      ...(waits && waits.join() !== before.waits?.join() && { waits }),
      ...(noted !== before.noted && { noted }),
      ...(offers.some((offer, i) => offer !== before.offers[i]) && { offers }),
      ...(checked && stale_check_at && { stale_check_at }),
    },
    ...(checked && !stale_check_at && { $unset: { stale_check_at: 1 } }),
    ...(hashes.length && { $addToSet: { snapshots: { $each: hashes } } }),
  };
}

/** Sets only changed entries of the steps' progress: a run may have hundreds. */
function changedSteps(before: readonly StepProgress[], after: readonly StepProgress[]) {
  const changed: Record<string, StepProgress> = {};
  for (const [i, each] of after.entries()) if (each !== before[i]) changed[`progress.${i}`] = each;
  return changed;
}

/** Returns the outbox key of a version's facts; no store takes it for an array index. */
export function outboxKey(version: number): string {
  return `v${version}`;
}

/** Returns the facts of a change with the run's status after it, which may differ when they are relayed. */
export function factsAfter({ facts, status }: { facts: Fact[]; status: RunStatus }): Fact[] {
  return facts.map((fact) => ({ ...fact, run_status: status }));
}

/** Returns an outbox's content in order. */
export function transitionsIn(outbox: Outbox): { version: number; facts: Fact[] }[] {
  const transitions = Object.entries(outbox).map(([slot, facts]) => ({
    version: Number(slot.slice(1)),
    facts,
  }));
  return transitions.sort((a, b) => a.version - b.version);
}

/** Adds the version to each fact of a transition. */
export function placed({ version, facts }: { version: number; facts: Fact[] }): PlacedFact[] {
  return facts.map((fact) => ({ ...fact, version }));
}

export const iso = (at: Date | null | undefined) => at?.toISOString() ?? null;

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
