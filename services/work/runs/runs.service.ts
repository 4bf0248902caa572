import type { ServiceBroker } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { Fault, invalidValue } from "../../../lib/contract/faults.ts";
import { keyedBy } from "../../../mixins/affinity.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { artifactActions } from "./artifact-actions.ts";
import { newRun } from "./create.ts";
import { attemptsOn } from "./facts.ts";
import { historyOf, retrospectiveOf } from "./history.ts";
import { KeptRuns } from "./kept-runs.ts";
import { offerActions } from "./offer-actions.ts";
import { actorOf, personOf } from "./people.ts";
import { positionOf, standing } from "./position.ts";
import { presentRun, stepAt } from "./present.ts";
import { relayChanged, relayLeft } from "./relay.ts";
import { RunStore } from "./run-store.ts";
import {
  closeRun,
  createRun,
  getRun,
  listRuns,
  MOST_LISTED,
  retrospective,
  runHistory,
  runPosition,
  statusDocument,
} from "./runs.contract.ts";
import { RunArtifactModel, type RunDoc, RunFactsModel, RunModel, type StepDef } from "./runs.model.ts";
import { statusDocumentOf } from "./status-document.ts";
import { stepActions } from "./step-actions.ts";
import { close, tellStale } from "./transitions.ts";

const RELAY_MS = 1000;
/** How long facts are gathered before relaying: a busy run is then written once for many. */
const GATHER_MS = 50;
const STALE_CHECK_MS = 5000;
const STALE_BATCH = 100;

/** Runs: goal-directed work of people and agents, step by step (spec: Process run). */
export const runsService: ServiceFactory = ({ store: db, blobs }) => {
  const runs = db.collection(RunModel);
  const facts = db.collection(RunFactsModel);
  const artifacts = db.collection(RunArtifactModel);
  const now = () => db.now();
  let broker: ServiceBroker;
  let gathering: NodeJS.Timeout | undefined;
  const kept = new KeptRuns(() => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      relaying.nudge();
    }, GATHER_MS).unref();
  });
  const store = new RunStore({ runs, facts, kept });
  const parts = { store, artifacts, blobs, now };

  const relay = () => ({ broker, kept, runs, facts, artifacts });
  const unpublished = "runs: publishing what happened will be tried again";
  const relaying = new ServiceLoop(() => relayChanged(relay()), RELAY_MS, unpublished);
  const relayingLeft = new ServiceLoop(() => relayLeft(relay(), now()), RELAY_MS, unpublished);
  const checking = new ServiceLoop(
    checkStale,
    STALE_CHECK_MS,
    "runs: looking for stale steps will be tried again",
  );

  const get = (ctx: Call<{ run_id: string }>) => store.get(ctx.meta.caller.tenant_id, ctx.params.run_id);

  /** Reports steps that became stale. @returns whether there may be more */
  async function checkStale(): Promise<boolean> {
    const filter = { stale_check_at: { $lte: new Date(now()) } };
    const options = {
      sort: { stale_check_at: 1 },
      limit: STALE_BATCH,
      projection: { tenant_id: 1 },
    } as const;
    const due = (await runs.system.find(filter, options).toArray()) as RunDoc[];
    for (const { _id, tenant_id } of due) {
      const { facts: told } = await store.change(tenant_id, _id, (run) => tellStale(run, now()));
      if (told.length === 0) await store.checkLater(tenant_id, _id);
    }
    return due.length === STALE_BATCH;
  }

  return {
    name: "runs",
    mixins: [relaying.mixin, relayingLeft.mixin, checking.mixin],
    actions: {
      // Changes of a run are routed to the node with its mailbox.
      ...keyedBy("params.run_id", {
        ...stepActions(parts),
        ...offerActions(parts),
        ...artifactActions(parts),
        close: action(closeRun, async (ctx) => {
          const { run_id, outcome, note = null } = ctx.params;
          const { caller } = ctx.meta;
          const given = { actor: actorOf(caller), at: new Date(now()), outcome, note };
          const closed_by_user_id = caller.kind === "user" ? caller.user_id : null;
          const also = { outcome, close_note: note, closed_by_user_id, closed_at: given.at };
          const { run } = await store.change(caller.tenant_id, run_id, (state) => close(state, given), {
            also,
          });
          return presentRun(run);
        }),
      }),

      create: action(createRun, async (ctx) =>
        presentRun(await store.insert(await newRun(ctx, new Date(now())))),
      ),

      list: action(listRuns, async ({ params, meta }) => {
        const { status, project_id, offset = 0, limit = MOST_LISTED } = params;
        const { tenant_id } = meta.caller;
        const filter = {
          ...(status && { status }),
          ...(project_id !== undefined && { project_id: project_id || null }),
        };
        const [page, total] = await Promise.all([
          store.list(tenant_id, filter, { skip: offset, limit }),
          runs.count(tenant_id, filter),
        ]);
        meta.$responseHeaders = { "X-Total-Count": String(total) };
        return page.map(presentRun);
      }),

      get: action(getRun, async (ctx) => {
        const run = await get(ctx);
        const told = await store.factsOf(run);
        const steps = run.steps.map((step: StepDef, i) => ({
          ...stepAt(run, i),
          attempts: attemptsOn(step, told),
        }));
        return { ...presentRun(run), steps };
      }),

      position: action(runPosition, async (ctx) => {
        const run = await get(ctx);
        const [told, person] = await Promise.all([store.factsOf(run), personOf(ctx)]);
        return { run: presentRun(run), ...positionOf(standing(run, told, now()), person) };
      }),

      retrospective: action(retrospective, async (ctx) => {
        const run = await get(ctx);
        if (run.status !== "closed") {
          const message = "The retrospective is there once the run is closed.";
          throw new Fault("conflict", message, { existing_resource_id: run._id });
        }
        return { items: retrospectiveOf(run, await store.factsOf(run)) };
      }),

      history: action(runHistory, async (ctx) => {
        const run = await get(ctx);
        const [told, brought] = await Promise.all([
          store.factsOf(run),
          artifacts.find(run.tenant_id, { run_id: run._id }, { sort: { created_at: 1, _id: 1 } }),
        ]);
        return { items: historyOf(run, told, brought) };
      }),

      status_document: action(statusDocument, async (ctx) => {
        const run = await get(ctx);
        return statusDocumentOf(run, await store.factsOf(run));
      }),

      /** Whether the tenant has completed a run. */
      any_completed: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
        const achieved = { status: "closed" as const, outcome: "achieved" as const };
        return (
          (await runs.exists(tenant_id, { status: "completed" })) || (await runs.exists(tenant_id, achieved))
        );
      }),

      /** Refuses an unknown run. @throws Fault validation_error, field process_run_id. */
      require: idempotent<{ tenant_id: string; run_id: string }>(
        async ({ params: { tenant_id, run_id } }) => {
          if (await runs.findOne(tenant_id, { _id: run_id }, { projection: { _id: 1 } })) return;
          throw invalidValue("process_run_id", `process_run_id: there is no run ${run_id}.`, {
            value: run_id,
          });
        },
      ),

      /** Returns the runs that an exemplar is attached to, or with a step whose reference pointer names it. */
      exemplar_referrers: idempotent<{ tenant_id: string; exemplar_id: string }>(async ({ params }) => {
        const { tenant_id, exemplar_id } = params;
        const brief = { projection: { _id: 1 }, limit: 20 };
        const [attached, pointing] = await Promise.all([
          runs.find(tenant_id, { exemplar_ids: exemplar_id }, brief),
          runs.find(tenant_id, { pointer_ids: exemplar_id }, brief),
        ]);
        return { attached: attached.map(({ _id }) => _id), pointing: pointing.map(({ _id }) => _id) };
      }),

      /** Returns which of the hashes artifacts of runs name. */
      blob_references: idempotent<{ tenant_id: string; hashes: string[] }>(async ({ params }) => {
        const filter = { content_hash: { $in: params.hashes } };
        const rows = await artifacts.find(params.tenant_id, filter, { projection: { content_hash: 1 } });
        return [...new Set(rows.map(({ content_hash }) => content_hash))];
      }),
    },

    created() {
      broker = this.broker;
    },

    stopped: () => clearTimeout(gathering),
  };
};
