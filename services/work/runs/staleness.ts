import type { StepDef, StepProgress } from "./runs.model.ts";
import type { RunStatus } from "./shapes.contract.ts";

/** A step in progress without activity for this long is stale (api: Processes). */
const QUIET_MS = 24 * 60 * 60_000;

interface Steps {
  steps: readonly StepDef[];
  progress: readonly StepProgress[];
}

interface Staleness {
  since: Date;
  reason: string;
}

/** Returns since when and why a step is or will become stale; null if it cannot. */
function staleFrom(step: StepDef, progress: StepProgress): Staleness | null {
  const { status, ready_at, last_activity_at, waiting } = progress;
  if (status !== "ready" && status !== "in_progress") return null;
  const stale: Staleness[] = [];
  const add = (from: Date, ms: number, reason: string) =>
    stale.push({ since: new Date(from.getTime() + ms), reason });
  if (status === "in_progress" && last_activity_at && !waiting)
    add(last_activity_at, QUIET_MS, "no activity for 24 hours");
  if (step.due_in_seconds !== null && ready_at)
    add(ready_at, step.due_in_seconds * 1000, "its deadline has passed");
  const [first = null] = stale.sort((a, b) => a.since.getTime() - b.since.getTime());
  return first;
}

/** Returns the step's staleness at a time, or null. */
export function stalenessAt(step: StepDef, progress: StepProgress, now: number): Staleness | null {
  const stale = staleFrom(step, progress);
  return stale && stale.since.getTime() <= now ? stale : null;
}

/** Returns the deadline of a step that is ready or in progress; null without one. */
export function deadlineOf({ deadline_seconds }: StepDef, { status, ready_at }: StepProgress): Date | null {
  if (deadline_seconds === null || !ready_at || (status !== "ready" && status !== "in_progress")) return null;
  return new Date(ready_at.getTime() + deadline_seconds * 1000);
}

/** Returns a step's deadline that has not been acted on; null without one. */
export function openDeadline(step: StepDef, progress: StepProgress): Date | null {
  const isPast = progress.deadline_of && progress.deadline_of.getTime() === progress.ready_at?.getTime();
  return isPast ? null : deadlineOf(step, progress);
}

const isReported = ({ stale_told }: StepProgress, { since }: Staleness) =>
  stale_told?.getTime() === since.getTime();

/** Returns stale steps that were not reported: each one's index, and since when it is stale. */
export function unreportedStale({ steps, progress }: Steps, now: number) {
  return steps.flatMap((step, index) => {
    const at = progress[index] as StepProgress;
    const stale = stalenessAt(step, at, now);
    return stale && !isReported(at, stale) ? [{ index, since: stale.since }] : [];
  });
}

/** Returns when the next unreported step becomes stale or reaches its deadline; null if none can. */
export function nextStaleCheck({ status, steps, progress }: Steps & { status: RunStatus }): Date | null {
  if (status === "closed") return null;
  const times = steps.flatMap((step, i) => {
    const at = progress[i] as StepProgress;
    const stale = staleFrom(step, at);
    const late = openDeadline(step, at);
    return [
      ...(stale && !isReported(at, stale) ? [stale.since.getTime()] : []),
      ...(late ? [late.getTime()] : []),
    ];
  });
  return times.length ? new Date(times.reduce((a, b) => Math.min(a, b))) : null;
}
