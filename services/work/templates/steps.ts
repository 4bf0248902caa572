import type { Static, TObject } from "typebox";
import { givenFilter } from "../../../lib/contract/subscription.ts";
import type { stepFields, TemplateStep } from "./templates.contract.ts";

type GivenStep = Static<TObject<typeof stepFields>>;

/**
 * Returns a step of a template or of a run with defaults, except for its completion mode.
 *
 * @param place among the steps, from 0
 */
export function stepAt(place: number, given: GivenStep): Omit<TemplateStep, "completion_mode"> {
  return {
    step_key: given.step_key,
    ordinal: place + 1,
    title: given.title ?? given.step_key,
    role: given.role ?? null,
    specialist_name: given.specialist_name ?? null,
    instructions: given.instructions ?? null,
    depends_on: [...new Set(given.depends_on)],
    completion_criteria: given.completion_criteria ?? [],
    expected_artifact_kinds: given.expected_artifact_kinds ?? [],
    reference_pointer: given.reference_pointer ?? null,
    reference_note: given.reference_note ?? null,
    due_in_seconds: given.due_in_seconds ?? null,
    deadline_seconds: given.deadline_seconds ?? null,
    on_deadline: given.on_deadline ?? "notify",
    wait_for: given.wait_for
      ? {
          event_type: given.wait_for.event_type,
          filter_expression: givenFilter(given.wait_for.filter_expression),
        }
      : null,
  };
}

/** The fields of a step's pointer that may name a local object. */
interface Step {
  reference_pointer: { uri?: string | null; native_id?: string | null } | null;
}

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Returns the local ids in steps' reference pointers, as the native id or within the address. */
export function pointedIds(steps: readonly Step[]): string[] {
  const named = steps.flatMap(({ reference_pointer }) => {
    const { uri, native_id } = reference_pointer ?? {};
    return `${native_id ?? ""} ${uri ?? ""}`.toLowerCase().match(UUIDS) ?? [];
  });
  return [...new Set(named)];
}
