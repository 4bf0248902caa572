import type { ActionSchema, ServiceBroker } from "moleculer";
import { type Call, callerId, hasScope } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import {
  invalidValue,
  lacksScope,
  notFound,
  requireFound,
  unknownReference,
} from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { keyedBy } from "../../../mixins/affinity.ts";
import { Due } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { requireCapacity } from "../../../storage/writes.ts";
import { callerName } from "../../identity/users/caller-name.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import type { WaitOver } from "../../sense/interests/waits.ts";
import { checkSteps, pointedIds, stepAt } from "../templates/steps.ts";
import type { TemplateStep } from "../templates/templates.contract.ts";
import * as artifact from "./artifacts.contract.ts";
import * as offer from "./offers.contract.ts";
import { acceptOffer, declineOffer, listOffers, offerHandoff } from "./offers.ts";
import { requirePeople, toActor } from "./participants.ts";
import { getHistory, getPosition, getRetrospective, getRun, getStatusDocument, listRuns } from "./read.ts";
import { newRelay } from "./relay.ts";
import { factsAfter, outboxKey, presentArtifact, presentRun } from "./run-document.ts";
import { assertChangeable } from "./run-state.ts";
import { RunStore } from "./run-store.ts";
import * as contract from "./runs.contract.ts";
import type { Run, RunDoc, StepDef } from "./runs.model.ts";
import { MOST_ARTIFACTS } from "./shapes.contract.ts";
import { nextStaleCheck } from "./staleness.ts";
import * as step from "./steps.contract.ts";
import { assignStep, completeStep, receiveEvent, reopenStep, skipStep, startStep } from "./steps.ts";
import { begin, close, passTime, withModes } from "./transitions.ts";
import { checkWaits, waitsOf } from "./waits.ts";

const RELAY_MS = 1000;
const STALE_CHECK_MS = 1000;

/** Runs: goal-directed work of people and agents, step by step (spec: Process run). */
export const runsService: ServiceFactory = ({ store: db, blobs }) => {
  let broker: ServiceBroker;
  const store = new RunStore(
    db,
    () => relaying.nudge(),
    (tenant_id, waits) => broker.call("interests.begin_waits", { tenant_id, waits }),
  );
  const relaying = new SharedLoop("facts", newRelay(store), RELAY_MS);
  const checking = new SharedLoop("stale steps", newStaleCheck(store), STALE_CHECK_MS);

  return {
    name: "runs",
    mixins: [relaying.mixin, checking.mixin],
    actions: {
      // Changes of a run are routed to the node with its mailbox.
      ...keyedBy("params.run_id", {
        start_step: action(step.startRunStep, (ctx) => startStep(store, ctx)),
        complete_step: action(step.completeRunStep, (ctx) => completeStep(store, blobs, ctx)),
        skip_step: action(step.skipRunStep, (ctx) => skipStep(store, ctx)),
        reopen_step: action(step.reopenRunStep, (ctx) => reopenStep(store, ctx)),
        assign_step: action(step.assignRunStep, (ctx) => assignStep(store, ctx)),
        offer_handoff: action(offer.offerRunHandoff, (ctx) => offerHandoff(store, ctx)),
        list_offers: action(offer.listRunOffers, (ctx) => listOffers(store, ctx)),
        accept_offer: action(offer.acceptRunOffer, (ctx) => acceptOffer(store, ctx)),
        decline_offer: action(offer.declineRunOffer, (ctx) => declineOffer(store, ctx)),
        register_artifact: action(artifact.registerRunArtifact, (ctx) => registerArtifact(store, ctx)),
        list_artifacts: action(artifact.listRunArtifacts, (ctx) => listArtifacts(store, ctx)),
        attach_exemplar: action(artifact.attachRunExemplar, (ctx) => attachExemplar(store, ctx)),
        close: action(contract.closeRun, (ctx) => closeRun(store, ctx)),
      }),

      // Takes the event that a step waits for.
      ...keyedBy("params.owner_id", {
        receive: idempotent<WaitOver>(({ params }) => receiveEvent(store, params)),
      }),

      create: action(contract.createRun, (ctx) => createRun(store, ctx)),
      list: action(contract.listRuns, (ctx) => listRuns(store, ctx)),
      get: action(contract.getRun, (ctx) => getRun(store, ctx)),
      position: action(contract.getRunPosition, (ctx) => getPosition(store, ctx)),
      retrospective: action(contract.getRunRetrospective, (ctx) => getRetrospective(store, ctx)),
      history: action(contract.getRunHistory, (ctx) => getHistory(store, ctx)),
      status_document: action(contract.getRunStatusDocument, (ctx) => getStatusDocument(store, ctx)),
      ...internalActions(store),
    },

    created() {
      broker = this.broker as ServiceBroker;
    },
  };
};

async function closeRun(store: RunStore, ctx: CallOf<typeof contract.closeRun>) {
  const { run_id, outcome, note = null } = ctx.params;
  const { caller } = ctx.meta;
  const fact = { actor: toActor(caller), at: new Date(store.now()), outcome, note };
  const { run } = await store.change(caller.tenant_id, run_id, (state) => close(state, fact));
  return presentRun(run);
}

const BATCH = 100;

/** Acts on deadlines that have passed, and reports steps that became stale. The task returns whether there may be more. */
function newStaleCheck(store: RunStore): () => Promise<boolean> {
  const checked = { by: "stale_check_at", batch: BATCH, projection: { status: 1 } } as const;
  const due = new Due<RunDoc>({ rows: store.runs, now: () => store.now(), ...checked });
  return () =>
    due.each(async ({ _id, tenant_id }) => {
      const { facts } = await store.change(tenant_id, _id, (run) => passTime(run, store.now()));
      if (facts.length === 0) await checkLater(store, tenant_id, _id);
    });
}

/** Schedules the next check of a run without unreported stale steps and passed deadlines. */
async function checkLater(store: RunStore, tenant_id: string, run_id: string): Promise<void> {
  const run = await store.get(tenant_id, run_id);
  const stale_check_at = nextStaleCheck(run);
  const version = run.version + 1;
  await store.runs.updateMany(
    tenant_id,
    { _id: run_id, version: run.version },
    stale_check_at
      ? { $set: { version, stale_check_at } }
      : { $set: { version }, $unset: { stale_check_at: 1 } },
  );
}

/** Actions for other domains. */
function internalActions({ runs }: RunStore): Record<string, ActionSchema> {
  return {
    any_completed: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
      const achieved = { status: "closed" as const, outcome: "achieved" as const };
      return (await runs.exists(tenant_id, { status: "completed" })) || runs.exists(tenant_id, achieved);
    }),

    /** Refuses an unknown run. @throws Fault validation_error, field process_run_id. */
    require: idempotent<{ tenant_id: string; run_id: string }>(async ({ params: { tenant_id, run_id } }) => {
      if (await runs.exists(tenant_id, { _id: run_id })) return;
      throw unknownReference("process_run_id", "run", run_id);
    }),

    /** Returns the runs that an exemplar is attached to, or with a step whose reference pointer names it. */
    exemplar_referrers: idempotent<{ tenant_id: string; exemplar_id: string }>(async ({ params }) => {
      const { tenant_id, exemplar_id } = params;
      const brief = { projection: { _id: 1 } as const, limit: 20 };
      const [attached, pointing] = await Promise.all([
        runs.find(tenant_id, { exemplar_ids: exemplar_id }, brief),
        runs.find(tenant_id, { pointer_ids: exemplar_id }, brief),
      ]);
      return [...new Set([...attached, ...pointing].map(({ _id }) => _id))];
    }),
  };
}

async function registerArtifact(store: RunStore, ctx: CallOf<typeof artifact.registerRunArtifact>) {
  const { broker, params, meta } = ctx;
  const { run_id, kind, pointer, step_record_id = null, mime_type = null } = params;
  const { tenant_id } = meta.caller;
  const run = await store.get(tenant_id, run_id);
  const records = step_record_id === null ? [] : await store.factsOf(run);
  if (step_record_id !== null && !records.some(({ record_id }) => record_id === step_record_id)) {
    throw unknownReference("step_record_id", "record", step_record_id);
  }
  const _id = newUuid(meta.idempotency_seed);
  const room = {
    ...{ of: store.artifacts, most: MOST_ARTIFACTS, within: { run_id }, called: "artifacts of the run" },
    ...{ rule: "run_limit" as const, instead: "Register further ones in another run" },
  };
  await requireCapacity(room, tenant_id, _id);
  const at = new Date(store.now());
  const row = await store.artifacts.insertOnce({
    ...{ _id, tenant_id, run_id, kind, pointer, step_record_id, mime_type, added_by: callerId(meta.caller) },
    ...{ content_hash: null, byte_size: null, snapshotted_at: null, created_at: at, updated_at: at },
  });
  reportChange(broker, tenant_id, "run", [run_id]);
  account(ctx, { artifact_id: _id });
  return presentArtifact(row);
}

async function listArtifacts(
  store: RunStore,
  { params: { run_id, offset = 0, limit = 50 }, meta }: CallOf<typeof artifact.listRunArtifacts>,
) {
  const { tenant_id } = meta.caller;
  await store.get(tenant_id, run_id);
  const sort = { created_at: 1, _id: 1 } as const;
  const { rows, total } = await store.artifacts.page(tenant_id, { run_id }, sort, { offset, limit });
  return { artifacts: rows.map(presentArtifact), total };
}

async function attachExemplar(store: RunStore, ctx: CallOf<typeof artifact.attachRunExemplar>) {
  const { run_id, exemplar_id } = ctx.params;
  account(ctx, { exemplar_id });
  const { tenant_id } = ctx.meta.caller;
  const exists = () => ctx.call<boolean, object>("exemplars.exists", { tenant_id, exemplar_id });
  const { exemplar_ids, version } = await store.get(tenant_id, run_id);
  // No write: each counts as a change of the run, and repetitions must not use up its limit.
  if (exemplar_ids.includes(exemplar_id)) return { run_id, exemplar_ids };
  assertChangeable(version);
  if (!(await exists())) throw notFound("exemplar", exemplar_id);
  const run = requireFound(await store.attach(tenant_id, run_id, exemplar_id, true), "run", run_id);
  // Checked again: the deletion looks for referrers after the exemplar ceased to exist for them.
  if (!(await exists())) {
    await store.attach(tenant_id, run_id, exemplar_id, false);
    throw notFound("exemplar", exemplar_id);
  }
  reportChange(ctx.broker, tenant_id, "run", [run_id]);
  return { run_id, exemplar_ids: run.exemplar_ids };
}

type RunParams = ParamsOf<typeof contract.createRun>;

/** Creates a run with its first facts. @throws Fault validation_error, not_found (the template) */
async function createRun(store: RunStore, ctx: Call<RunParams>) {
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
