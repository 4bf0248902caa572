import type { Change } from "./draft.ts";
import { slotOf } from "./outbox.ts";
import type { Fact, Run, StepDef, StepProgress } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";

/** Returns the run after a change with facts, without its outbox. @param also further fields to set */
export function changedRun(run: Run, change: Change, also: Partial<Run>): Run {
  const { status, progress, offers, facts, noted = run.noted ?? 0 } = change;
  const steps = withPeople(run.steps, progress);
  const next = nextStaleCheck({ status, progress, steps });
  const at = facts[0]?.at as Date;
  return {
    ...{ ...run, ...also, steps, status, progress, offers: [...offers], noted },
    ...{ stale_check_at: checkAt(run.stale_check_at, next, at), version: run.version + 1, updated_at: at },
  };
}

/** Returns the original steps with their current assignees. */
export function withPeople(steps: StepDef[], progress: readonly StepProgress[]): StepDef[] {
  return steps.map((step, i) => {
    const { assigned_user_id = step.assigned_user_id } = progress[i] as StepProgress;
    return assigned_user_id === step.assigned_user_id ? step : { ...step, assigned_user_id };
  });
}

/** Returns when to check for stale steps: by the time the next one becomes stale, or earlier if that saves a write. */
function checkAt(before: Date | undefined, next: Date | null, now: Date): Date | undefined {
  const isEarly = before && before > now && (next === null || before <= next);
  return isEarly ? before : (next ?? undefined);
}

/** Returns the update from one state of a run to another. Sets only changed fields, because each index costs. */
export function updateOf(before: Run, after: Run, also: Partial<Run>, facts: Fact[]) {
  const { status, version, updated_at, stale_check_at, offers, progress, noted } = after;
  const checked = stale_check_at?.getTime() !== before.stale_check_at?.getTime();
  return {
    $set: {
      ...{ ...also, version, updated_at, relay_at: updated_at, ...changedSteps(before.progress, progress) },
      [`outbox.${slotOf(version)}`]: facts,
      ...(status !== before.status && { status }),
      ...(noted !== (before.noted ?? 0) && { noted }),
      ...(offers.some((offer, i) => offer !== before.offers[i]) && { offers }),
      ...(checked && stale_check_at && { stale_check_at }),
    },
    ...(checked && !stale_check_at && { $unset: { stale_check_at: 1 } }),
  };
}

/** Sets only changed entries of the steps' progress: a run may have hundreds. */
function changedSteps(before: readonly StepProgress[], after: readonly StepProgress[]) {
  const changed: Record<string, StepProgress> = {};
  for (const [i, each] of after.entries()) if (each !== before[i]) changed[`progress.${i}`] = each;
  return changed;
}
