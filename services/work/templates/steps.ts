import type { Static, TObject } from "typebox";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { checkFilter, checkGlob, givenFilter } from "../../../lib/contract/subscription.ts";
import { UUIDS } from "../../../lib/ids.ts";
import type { stepFields, TemplateStep } from "./templates.contract.ts";

type GivenStep = Static<TObject<typeof stepFields>>;

/**
 * Returns a step of a template or of a run with defaults, except for its completion mode.
 * @param place among the steps, from 0
 */
export function stepAt(place: number, step: GivenStep): Omit<TemplateStep, "completion_mode"> {
  return {
    step_key: step.step_key,
    ordinal: place + 1,
    title: step.title ?? step.step_key,
    role: step.role ?? null,
    specialist_name: step.specialist_name ?? null,
    instructions: step.instructions ?? null,
    depends_on: [...new Set(step.depends_on)],
    completion_criteria: step.completion_criteria ?? [],
    expected_artifact_kinds: step.expected_artifact_kinds ?? [],
    reference_pointer: step.reference_pointer ?? null,
    reference_note: step.reference_note ?? null,
    due_in_seconds: step.due_in_seconds ?? null,
    deadline_seconds: step.deadline_seconds ?? null,
    on_deadline: step.on_deadline ?? "notify",
    wait_for: step.wait_for
      ? {
          event_type: step.wait_for.event_type,
          filter_expression: givenFilter(step.wait_for.filter_expression),
        }
      : null,
  };
}

/** Returns the local ids in steps' reference pointers, as the native id or within the address. */
export function pointedIds(steps: readonly Pick<TemplateStep, "reference_pointer">[]): string[] {
  const named = steps.flatMap(({ reference_pointer }) => {
    const { uri, native_id } = reference_pointer ?? {};
    return `${native_id ?? ""} ${uri ?? ""}`.toLowerCase().match(UUIDS) ?? [];
  });
  return [...new Set(named)];
}

/** The fields of a step that determine dependencies. */
type Linked = Pick<TemplateStep, "step_key" | "depends_on">;

interface Planned extends Linked, Pick<TemplateStep, "wait_for" | "completion_criteria"> {
  completion_mode: string | null;
}

/**
 * Checks that steps can be done in some order (api: Processes).
 * @throws Fault validation_error for a duplicate `step_key` or criterion, an invalid `wait_for`, an unknown step in `depends_on`, and a cycle
 */
export function checkSteps(steps: readonly Planned[]): void {
  checkCriteria(steps);
  checkWaits(steps);
  const places = new Map<string, number>();
  for (const [i, { step_key }] of steps.entries()) {
    const first = places.get(step_key);
    if (first !== undefined) {
      const field = `steps.${i}.step_key`;
      const message = `${field}: steps.${first} already has the key "${step_key}". Use another.`;
      throw invalidValue(field, message, { value: step_key });
    }
    places.set(step_key, i);
  }
  for (const [i, { depends_on }] of steps.entries()) {
    const unknown = depends_on.find((key) => !places.has(key));
    if (unknown === undefined) continue;
    const field = `steps.${i}.depends_on`;
    const message = `${field}: there is no step "${unknown}". Expected keys of the other steps.`;
    throw invalidValue(field, message, { value: unknown, allowed: [...places.keys()] });
  }
  const circle = findCircle(steps);
  if (circle) {
    const [first = ""] = circle;
    const path = [...circle, first].join(" → ");
    const message = `The steps depend on each other: ${path}. Remove one of these dependencies.`;
    throw invalidValue(`steps.${places.get(first)}.depends_on`, message, { value: circle });
  }
}

function checkCriteria(steps: readonly Planned[]): void {
  for (const [i, { completion_criteria }] of steps.entries()) {
    const keys = completion_criteria.map(({ key }) => key);
    const again = keys.findIndex((key, at) => keys.indexOf(key) < at);
    if (again < 0) continue;
    const field = `steps.${i}.completion_criteria.${again}.key`;
    const message = `${field}: another criterion of the step already has the key "${keys[again]}". Use another.`;
    throw invalidValue(field, message, { value: keys[again] });
  }
}

/** An event completes a step at once and as a whole. */
function checkWaits(steps: readonly Planned[]): void {
  for (const [i, { wait_for, completion_mode, completion_criteria }] of steps.entries()) {
    if (!wait_for) continue;
    const field = `steps.${i}.wait_for`;
    const other =
      completion_criteria.length > 0
        ? "completion_criteria"
        : completion_mode === "handoff_accepted" && "completion_mode handoff_accepted";
    if (other) throw invalidValue(field, `${field}: not with ${other}: the event completes the step.`);
    checkGlob(`${field}.event_type`, wait_for.event_type);
    checkFilter(`${field}.filter_expression`, wait_for.filter_expression);
  }
}

/** Returns the keys of a dependency cycle in order, or null. */
function findCircle(steps: readonly Linked[]): string[] | null {
  const waiting = new Map(steps.map(({ step_key, depends_on }) => [step_key, new Set(depends_on)]));
  const successors = mapSuccessors(steps);
  const free = steps.filter(({ depends_on }) => depends_on.length === 0).map(({ step_key }) => step_key);
  for (let key = free.pop(); key !== undefined; key = free.pop()) {
    waiting.delete(key);
    for (const next of successors.get(key) ?? []) {
      const rest = waiting.get(next);
      if (rest?.delete(key) && rest.size === 0) free.push(next);
    }
  }
  // Each remaining step waits for another remaining one: following them leads into a cycle.
  let [key] = waiting.keys();
  const path: string[] = [];
  while (key !== undefined && !path.includes(key)) {
    path.push(key);
    [key] = waiting.get(key) ?? [];
  }
  return key === undefined ? null : path.slice(path.indexOf(key));
}

/** Returns for each step the keys of its direct dependents. */
export function mapSuccessors(steps: readonly Linked[]): Map<string, string[]> {
  const successors = new Map<string, string[]>();
  for (const { step_key, depends_on } of steps) {
    for (const key of new Set(depends_on)) {
      const keys = successors.get(key);
      if (keys) keys.push(step_key);
      else successors.set(key, [step_key]);
    }
  }
  return successors;
}
