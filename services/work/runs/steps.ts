import type { Call } from "../../../lib/access/caller.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { type Blobs, writingBlobs } from "../../../storage/blobs/blobs.ts";
import type { CallOf } from "../../runtime.ts";
import type { WaitOver } from "../../sense/interests/waits.ts";
import { keepContents, snapshotsIn, writeSnapshots } from "./evidence.ts";
import { openAttempts, presentAttempt } from "./facts.ts";
import { loadSpecialist, requireOwnWork, requirePeople, toActor } from "./participants.ts";
import { positionStep, standing } from "./position.ts";
import { stepNamed } from "./run-document.ts";
import type { Attribution, Change } from "./run-state.ts";
import type { Changed, RunStore } from "./run-store.ts";
import type { FactKind, PlacedFact, Run, StepDef } from "./runs.model.ts";
import type * as contract from "./steps.contract.ts";
import { assign, complete, receive, reopen, skip, start } from "./transitions.ts";

/** The caller, the time, and the id of the record that a transition creates. */
type NewRecord = Attribution & { record_id: string };

/** Applies a transition of a step for the caller; a repeated Idempotency-Key gets the result of the first try. */
async function changeStep(
  store: RunStore,
  ctx: Pick<Call<{ run_id: string; step_key: string }>, "params" | "meta" | "locals">,
  decide: (run: Run, step_key: string, by: NewRecord) => Change,
): Promise<Changed & { record_id: string }> {
  const { run_id, step_key } = ctx.params;
  const { idempotency_seed: seed, caller } = ctx.meta;
  account(ctx, { step_key });
  const record_id = newUuid(seed);
  const by = { actor: toActor(caller), at: new Date(store.now()), record_id };
  const transition = (run: Run) => decide(run, step_key, by);
  const once = seed !== undefined && record_id;
  return { ...(await store.change(caller.tenant_id, run_id, transition, once)), record_id };
}

export async function startStep(store: RunStore, ctx: CallOf<typeof contract.startRunStep>) {
  const { run_id, step_key, handoff_id = null, bundle_id = null, notes = null } = ctx.params;
  if (handoff_id !== null || bundle_id !== null) {
    const { offers } = await store.get(ctx.meta.caller.tenant_id, run_id);
    await requireOwnWork(ctx, { handoff_id, bundle_id }, offers);
  }
  const { before, run, facts } = await changeStep(store, ctx, (state, key, by) =>
    start(state, key, { ...by, handoff_id, bundle_id, notes }),
  );
  const step = run.steps.find((each) => each.step_key === step_key) as StepDef;
  const [others, specialist] = await Promise.all([
    othersOn(store, before, step_key),
    loadSpecialist(ctx, step),
  ]);
  return { ...presentAttempt(step, facts[0] as PlacedFact), warning: makeWarning(others), specialist };
}

export async function completeStep(
  store: RunStore,
  blobs: Blobs,
  ctx: CallOf<typeof contract.completeRunStep>,
) {
  const { run_id, step_key, criterion_key = null, artifact_contents = [] } = ctx.params;
  const { what_makes_this_done: notes = null } = ctx.params;
  const owner = { _id: run_id, tenant_id: ctx.meta.caller.tenant_id };
  if (artifact_contents.length) await store.get(owner.tenant_id, run_id);
  const changed = await writingBlobs(blobs, owner.tenant_id, async (write) => {
    const snapshots = await keepContents(store.artifacts, blobs, write, owner, artifact_contents);
    return changeStep(store, ctx, (run, key, by) =>
      complete(run, key, { ...by, criterion_key, notes, snapshots }),
    );
  });
  // Relaying writes these too; written here so that they are visible at once.
  await writeSnapshots(store.artifacts, snapshotsIn(owner, changed.facts));
  const completed_step = stepNamed(changed.run, step_key);
  return {
    run_id,
    completed_step_key: completed_step.status === "completed" ? step_key : null,
    completed_step,
    attested_criteria: changed.facts.flatMap(({ criterion_key: key, attested = [] }) => [
      ...(key ? [key] : []),
      ...attested,
    ]),
    newly_ready_steps: stepsWith("step_ready", changed, store.now()),
    run_completed: changed.run.status === "completed",
  };
}

export async function skipStep(store: RunStore, ctx: CallOf<typeof contract.skipRunStep>) {
  const { run_id, step_key, reason } = ctx.params;
  const changed = await changeStep(store, ctx, (run, key, by) => skip(run, key, { ...by, reason }));
  const { run, record_id } = changed;
  return {
    ...{ run_id, run_goal: run.goal, reason, record_id },
    skipped_step: stepNamed(run, step_key),
    newly_ready_steps: stepsWith("step_ready", changed, store.now()),
    run_completed: run.status === "completed",
  };
}

export async function reopenStep(store: RunStore, ctx: CallOf<typeof contract.reopenRunStep>) {
  const { run_id, step_key, reason } = ctx.params;
  const changed = await changeStep(store, ctx, (run, key, by) => reopen(run, key, { ...by, reason }));
  const { run, facts, record_id } = changed;
  const demoted = stepKeys(facts, "step_blocked");
  // Reports successors that are in progress.
  const at = standing(run, await factsUntil(store, run), store.now());
  const further = run.steps.flatMap((step, index) => {
    const waits = step.depends_on.includes(step_key) && run.progress[index]?.status !== "blocked";
    return waits && !demoted.has(step.step_key) ? [positionStep(at, index)] : [];
  });
  return {
    ...{ run_id, run_goal: run.goal, reason, record_id },
    reopened_step: stepNamed(run, step_key),
    demoted_successors: stepsWith("step_blocked", changed, store.now()),
    notify_only_successors: further,
    run_reactivated: facts.some(({ kind }) => kind === "reactivated"),
  };
}

export async function assignStep(store: RunStore, ctx: CallOf<typeof contract.assignRunStep>) {
  const { run_id, step_key, assigned_user_id } = ctx.params;
  await store.get(ctx.meta.caller.tenant_id, run_id);
  if (assigned_user_id !== null)
    await requirePeople(ctx, [{ field: "assigned_user_id", user_id: assigned_user_id }]);
  const { run } = await changeStep(store, ctx, (state, key, by) =>
    assign(state, key, { ...by, assigned_user_id }),
  );
  return { run_id, run_goal: run.goal, assigned_step: stepNamed(run, step_key) };
}

/** Returns the attempts that were open on a step before another began. */
async function othersOn(store: RunStore, before: Run, step_key: string): Promise<PlacedFact[]> {
  const index = before.steps.findIndex((step) => step.step_key === step_key);
  if (before.progress[index]?.status !== "in_progress") return [];
  return openAttempts(await factsUntil(store, before)).get(step_key) ?? [];
}

async function factsUntil(store: RunStore, { tenant_id, _id, version }: Run): Promise<PlacedFact[]> {
  const facts = await store.factsOf(await store.get(tenant_id, _id));
  return facts.filter((fact) => fact.version <= version);
}

function makeWarning(others: PlacedFact[]): string | null {
  if (others.length === 0) return null;
  const who = [...new Set(others.map(({ actor }) => actor?.actor_id))].join(", ");
  return `${others.length === 1 ? "Another attempt is" : `${others.length} other attempts are`} open: ${who}.`;
}

function stepKeys(facts: readonly PlacedFact[], kind: FactKind): Set<string | null> {
  return new Set(facts.filter((fact) => fact.kind === kind).map(({ step_key }) => step_key));
}

/** Returns the steps that facts of a kind name, as on the position surface. */
function stepsWith(kind: FactKind, { run, facts }: Changed, now: number) {
  const keys = stepKeys(facts, kind);
  const at = standing(run, facts, now);
  return run.steps.flatMap(({ step_key }, index) => (keys.has(step_key) ? [positionStep(at, index)] : []));
}

/** Completes a step that waited for an event, once. Does nothing if it no longer waits, or if there is no such run. */
export async function receiveEvent(store: RunStore, { tenant_id, owner_id, key, wait_id, event }: WaitOver) {
  if (!(await store.runs.exists(tenant_id, { _id: owner_id }))) return;
  const at = new Date(store.now());
  await store.change(tenant_id, owner_id, (run) => receive(run, key, { at, wait_id, event }));
}
