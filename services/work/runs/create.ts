import { type Call, callerId, hasScope } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidValue, lacksScope, notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { callerName } from "../../identity/users/caller-name.ts";
import { checkSteps, pointedIds, stepAt } from "../templates/steps.ts";
import type { TemplateStep } from "../templates/templates.contract.ts";
import { requirePeople, toActor } from "./participants.ts";
import { factsAfter, outboxKey, presentRun } from "./run-document.ts";
import type { RunStore } from "./run-store.ts";
import type { createRun as operation } from "./runs.contract.ts";
import type { Run, StepDef } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";
import { begin, withModes } from "./transitions.ts";
import { checkWaits, waitsOf } from "./waits.ts";

type RunParams = ParamsOf<typeof operation>;

/** Creates a run with its first facts. @throws Fault validation_error, not_found (the template) */
export async function createRun(store: RunStore, ctx: Call<RunParams>) {
  return presentRun(await store.insert(await newRun(ctx, new Date(store.now()))));
}

async function newRun(ctx: Call<RunParams>, at: Date): Promise<Omit<Run, "plan">> {
  const { goal, template_id = null } = ctx.params;
  const project_id = ctx.params.project_id || null;
  const { tenant_id } = ctx.meta.caller;
  const values = ctx.params.values ?? {};
  const steps = template_id === null ? await ownSteps(ctx) : await templateSteps(ctx, template_id);
  const _id = newUuid(ctx.meta.idempotency_seed);
  const waits = steps.some(({ wait_for }) => wait_for);
  // The run's history says which event has come.
  if (waits && !hasScope(ctx.meta.caller, "receive"))
    throw lacksScope(
      "receive",
      "A run whose steps wait for events needs the scope receive: use a key that has it.",
    );
  checkWaits({ _id, goal, project_id, values }, steps);
  const begun = begin(_id, steps, { actor: toActor(ctx.meta.caller), at });
  const { status, progress } = begun;
  const stale_check_at = nextStaleCheck({ status, steps, progress });
  return {
    ...{ _id, tenant_id, goal, project_id, status, template_id, steps, progress, offers: [] },
    initiated_by: { id: callerId(ctx.meta.caller), display_name: await callerName(ctx) },
    success_criteria: ctx.params.success_criteria ?? [],
    ambiguity_score: ctx.params.ambiguity_score ?? null,
    ambiguity_notes: ctx.params.ambiguity_notes ?? [],
    exemplar_ids: [],
    pointer_ids: pointedIds(steps),
    values,
    noted: 0,
    ...{ outcome: null, closed_by_user_id: null, close_note: null, closed_at: null },
    version: 1,
    outbox: { [outboxKey(1)]: factsAfter(begun) },
    ...{ relay_at: at, created_at: at, updated_at: at },
    ...(stale_check_at && { stale_check_at }),
    ...(waits && { waits: waitsOf(progress) }),
  };
}

async function ownSteps(ctx: Call<RunParams>): Promise<StepDef[]> {
  const { steps = [], step_assignments } = ctx.params;
  if (step_assignments?.length) {
    throw invalidValue(
      "step_assignments",
      "step_assignments: allowed only with template_id. Otherwise set assigned_user_id of the steps.",
    );
  }
  const defs = steps.map((step, i) => ({
    ...{ id: newUuid(), ...stepAt(i, step), completion_mode: step.completion_mode ?? null },
    assigned_user_id: step.assigned_user_id ?? null,
  }));
  checkSteps(defs);
  const people = defs.flatMap(({ assigned_user_id: user_id }, i) =>
    user_id === null ? [] : [{ field: `steps.${i}.assigned_user_id`, user_id }],
  );
  await requirePeople(ctx, people);
  return withModes(defs);
}

/** Returns the template's steps unchanged, with their assignees (spec: create run). */
async function templateSteps(ctx: Call<RunParams>, template_id: string): Promise<StepDef[]> {
  const { steps: own, step_assignments = [] } = ctx.params;
  if (own) throw invalidValue("steps", "steps: expected either steps or template_id, got both.");
  const { tenant_id } = ctx.meta.caller;
  const steps = await ctx.call<TemplateStep[] | null, object>("templates.steps_of", {
    tenant_id,
    template_id,
  });
  if (!steps) throw notFound("process_template", template_id);
  checkAssignments(
    step_assignments,
    steps.map(({ step_key }) => step_key),
  );
  const people = step_assignments.map(({ assigned_user_id: user_id }, i) => ({
    field: `step_assignments.${i}.assigned_user_id`,
    user_id,
  }));
  await requirePeople(ctx, people);
  const assigned = new Map(
    step_assignments.map(({ step_key, assigned_user_id }) => [step_key, assigned_user_id]),
  );
  return steps.map((step) => ({
    ...step,
    id: newUuid(),
    assigned_user_id: assigned.get(step.step_key) ?? null,
  }));
}

/** @throws Fault validation_error for a step that the template lacks or that is assigned twice */
function checkAssignments(assignments: readonly { step_key: string }[], allowed: string[]): void {
  const named = assignments.map(({ step_key }) => step_key);
  for (const [i, value] of named.entries()) {
    const field = `step_assignments.${i}.step_key`;
    if (!allowed.includes(value))
      throw invalidValue(
        field,
        `${field}: the template has no step "${value}". Expected one of ${allowed.join(", ")}.`,
        { value, allowed },
      );
    if (named.indexOf(value) < i)
      throw invalidValue(field, `${field}: the step "${value}" is assigned twice.`, { value });
  }
}
