import { conflict, invalidValue } from "../../../lib/contract/faults.ts";
import { checkFilter } from "../../../lib/contract/subscription.ts";
import { bindName } from "../../../lib/filter/bind.ts";
import { FilterError } from "../../../lib/filter/filter.ts";
import type { NewWait } from "../../sense/interests/waits.ts";
import type { Run, StepDef, StepProgress } from "./runs.model.ts";

/** The run as filters see it. */
type Seen = Pick<Run, "_id" | "goal" | "project_id" | "values">;

const MOST_VALUES = 50;
const LONGEST_NAME = 100;

/** Returns a step's filter with the values of its run. @throws FilterError if a value is missing */
function boundFilter({ _id: id, goal, project_id, values = {} }: Seen, filter: string): string {
  return bindName(filter, "run", { id, goal, project_id, values });
}

/** Refuses a run whose values do not suffice for the filters of its steps. @throws Fault validation_error */
export function checkWaits(run: Seen, steps: readonly StepDef[]): void {
  const names = Object.keys(run.values ?? {});
  if (names.length > MOST_VALUES || names.some((name) => name.length > LONGEST_NAME)) {
    const most = `at most ${MOST_VALUES} values, with names of at most ${LONGEST_NAME} characters`;
    throw invalidValue("values", `values: expected ${most}.`, { value: names.length });
  }
  for (const { step_key, wait_for } of steps) {
    const filter = wait_for?.filter_expression;
    if (!filter) continue;
    try {
      checkFilter("values", boundFilter(run, filter));
    } catch (err) {
      if (!(err instanceof FilterError)) throw err;
      const message = `values: the step "${step_key}" waits for an event, and in its filter ${err.message}.`;
      throw invalidValue("values", message, { value: filter });
    }
  }
}

/**
 * Returns the waits that a run begins with a change.
 * @param error of clocks in ms: an event must not seem too early
 * @throws Fault conflict for a step whose filter reads a value that the run lacks
 */
export function begunWaits(
  run: Omit<Run, "plan">,
  before: readonly StepProgress[],
  error: number,
): NewWait[] {
  return run.steps.flatMap((step, i) => {
    const { waiting } = run.progress[i] as StepProgress;
    if (!waiting || !step.wait_for || waiting.id === before[i]?.waiting?.id) return [];
    const { event_type, filter_expression } = step.wait_for;
    const bound = filter_expression && filterOfWait(run, step.step_key, filter_expression);
    return {
      _id: waiting.id,
      ...{ owner_id: run._id, version: run.version, action: "runs.receive", key: step.step_key },
      ...{ event_type, filter_expression: bound },
      ...{ since: new Date(waiting.since.getTime() - error), reader_id: run.initiated_by.id },
    };
  });
}

/** A run that an earlier version created may lack the values that `checkWaits` requires today. */
function filterOfWait(run: Seen, step_key: string, filter: string): string {
  try {
    return boundFilter(run, filter);
  } catch (err) {
    if (!(err instanceof FilterError)) throw err;
    throw conflict(
      `The step "${step_key}" is next, and waits for an event; in its filter ${err.message}. An earlier version created ` +
        "this run without it. Skip that step, then repeat this request; or create the run again.",
      { step_key },
    );
  }
}

/** Returns the ids of the waits of a run. */
export function waitsOf(progress: readonly StepProgress[]): string[] {
  return progress.flatMap(({ waiting }) => (waiting ? [waiting.id] : []));
}
