import type { Change } from "./draft.ts";
import type { PlacedFact, Run, StepProgress } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";

/** Facts with their places in a run. */
export function place(facts: Change["facts"], version: number): PlacedFact[] {
  return facts.map((fact, index) => ({ ...fact, version, index }));
}

/** Whether one fact happened after another. */
export function isAfter(a: Place, b: Place): boolean {
  return a.version > b.version || (a.version === b.version && a.index > b.index);
}

type Place = Pick<PlacedFact, "version" | "index">;

/** How a run is after a change that has facts. @param also what it is set to besides */
export function changedRun(run: Run, change: Change, also: Partial<Run>): Run {
  const { status, progress, offers, facts } = change;
  const stale_check_at = nextStaleCheck({ status, progress, steps: run.steps }) ?? undefined;
  const at = facts[0]?.at as Date;
  return {
    ...{ ...run, ...also, status, progress, offers: [...offers], outbox: [], stale_check_at },
    ...{ version: run.version + 1, updated_at: at },
  };
}

/** The update that makes a stored run the changed one: it names only what is another, for each index costs. */
export function updateOf(before: Run, after: Run, also: Partial<Run>, facts: PlacedFact[]) {
  const { status, version, updated_at, stale_check_at, offers, progress } = after;
  const checked = stale_check_at?.getTime() !== before.stale_check_at?.getTime();
  return {
    $set: {
      ...{ ...also, version, updated_at, relay_at: updated_at, ...changedSteps(before.progress, progress) },
      ...(status !== before.status && { status }),
      ...(offers.some((offer, i) => offer !== before.offers[i]) && { offers }),
      ...(checked && stale_check_at && { stale_check_at }),
    },
    ...(checked && !stale_check_at && { $unset: { stale_check_at: 1 } }),
    $push: { outbox: { $each: facts } },
  };
}

/** Only what is new of the steps' progress: a run may have hundreds. */
function changedSteps(before: readonly StepProgress[], after: readonly StepProgress[]) {
  const changed: Record<string, StepProgress> = {};
  for (const [i, each] of after.entries()) if (each !== before[i]) changed[`progress.${i}`] = each;
  return changed;
}
