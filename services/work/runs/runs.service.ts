import type { ServiceBroker } from "moleculer";
import { isFault } from "../../../lib/contract/faults.ts";
import { keyedBy } from "../../../mixins/affinity.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import type { WaitOver } from "../../sense/interests/waits.ts";
import * as artifact from "./artifacts.contract.ts";
import { attachExemplar, listArtifacts, registerArtifact } from "./artifacts.ts";
import { createRun } from "./create.ts";
import * as offer from "./offers.contract.ts";
import { acceptOffer, declineOffer, listOffers, offerHandoff } from "./offers.ts";
import { toActor } from "./participants.ts";
import { presentRun } from "./present.ts";
import { getHistory, getPosition, getRetrospective, getRun, getStatusDocument, listRuns } from "./read.ts";
import { relayChanged, relayLeft } from "./relay.ts";
import { RunStore } from "./run-store.ts";
import type { closeRun as operation } from "./runs.contract.ts";
import * as contract from "./runs.contract.ts";
import { internalActions } from "./runs.internal.ts";
import type { RunDoc } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";
import * as step from "./steps.contract.ts";
import { assignStep, completeStep, receiveEvent, reopenStep, skipStep, startStep } from "./steps.ts";
import { close, passTime } from "./transitions.ts";

const RELAY_MS = 1000;
const STALE_CHECK_MS = 1000;
/** When a run is checked again whose change was refused. */
const REFUSED_MS = 60_000;
const UNPUBLISHED = "runs: events could not be published; the next sweep retries";
const UNCHECKED = "runs: stale steps could not be checked; the next sweep retries";

/** Runs: goal-directed work of people and agents, step by step (spec: Process run). */
export const runsService: ServiceFactory = ({ store: db, blobs }) => {
  let broker: ServiceBroker;
  const store = new RunStore(
    db,
    () => relaying.nudge(),
    (tenant_id, waits) => broker.call("interests.begin_waits", { tenant_id, waits }),
  );
  const relaying = new ServiceLoop((broker) => relayChanged(store, broker), RELAY_MS, UNPUBLISHED);
  const relayingLeft = new SharedLoop(
    "left facts",
    (broker) => relayLeft(store, broker),
    RELAY_MS,
    UNPUBLISHED,
  );
  const checking = new SharedLoop("stale steps", () => checkStale(store), STALE_CHECK_MS, UNCHECKED);

  return {
    name: "runs",
    mixins: [relaying.mixin, relayingLeft.mixin, checking.mixin],
    actions: {
      // Changes of a run are routed to the node with its mailbox.
      ...keyedBy("params.run_id", {
        start_step: action(step.startStep, (ctx) => startStep(store, ctx)),
        complete_step: action(step.completeStep, (ctx) => completeStep(store, blobs, ctx)),
        skip_step: action(step.skipStep, (ctx) => skipStep(store, ctx)),
        reopen_step: action(step.reopenStep, (ctx) => reopenStep(store, ctx)),
        assign_step: action(step.assignStep, (ctx) => assignStep(store, ctx)),
        offer_handoff: action(offer.offerHandoff, (ctx) => offerHandoff(store, ctx)),
        list_offers: action(offer.listOffers, (ctx) => listOffers(store, ctx)),
        accept_offer: action(offer.acceptOffer, (ctx) => acceptOffer(store, ctx)),
        decline_offer: action(offer.declineOffer, (ctx) => declineOffer(store, ctx)),
        register_artifact: action(artifact.registerArtifact, (ctx) => registerArtifact(store, ctx)),
        list_artifacts: action(artifact.listArtifacts, (ctx) => listArtifacts(store, ctx)),
        attach_exemplar: action(artifact.attachExemplar, (ctx) => attachExemplar(store, ctx)),
        close: action(contract.closeRun, (ctx) => closeRun(store, ctx)),
      }),

      // Takes the event that a step waits for.
      ...keyedBy("params.owner_id", {
        receive: idempotent<WaitOver>(({ params }) => receiveEvent(store, params)),
      }),

      create: action(contract.createRun, (ctx) => createRun(store, ctx)),
      list: action(contract.listRuns, (ctx) => listRuns(store, ctx)),
      get: action(contract.getRun, (ctx) => getRun(store, ctx)),
      position: action(contract.runPosition, (ctx) => getPosition(store, ctx)),
      retrospective: action(contract.retrospective, (ctx) => getRetrospective(store, ctx)),
      history: action(contract.runHistory, (ctx) => getHistory(store, ctx)),
      status_document: action(contract.statusDocument, (ctx) => getStatusDocument(store, ctx)),
      ...internalActions(store),
    },

    created() {
      broker = this.broker as ServiceBroker;
    },
    stopped: () => store.recent.stop(),
  };
};

async function closeRun(store: RunStore, ctx: CallOf<typeof operation>) {
  const { run_id, outcome, note = null } = ctx.params;
  const { caller } = ctx.meta;
  const given = { actor: toActor(caller), at: new Date(store.now()), outcome, note };
  const { run } = await store.change(caller.tenant_id, run_id, (state) => close(state, given));
  return presentRun(run);
}

const BATCH = 100;
const DUE = { sort: { stale_check_at: 1 }, limit: BATCH, projection: { tenant_id: 1 } } as const;

/** Acts on deadlines that have passed, and reports steps that became stale. @returns whether there may be more */
async function checkStale(store: RunStore): Promise<boolean> {
  const filter = { stale_check_at: { $lte: new Date(store.now()) } };
  const due = (await store.runs.system.find(filter, DUE).toArray()) as RunDoc[];
  for (const { _id, tenant_id } of due) {
    try {
      const { facts } = await store.change(tenant_id, _id, (run) => passTime(run, store.now()));
      if (facts.length === 0) await checkLater(store, tenant_id, _id);
    } catch (err) {
      // Such as a limit of waits, which a skipped step would exceed. The others need not wait for it.
      if (!isFault(err)) throw err;
      const stale_check_at = new Date(store.now() + REFUSED_MS);
      await store.runs.updateMany(tenant_id, { _id, ...filter }, { $set: { stale_check_at } });
    }
  }
  return due.length === BATCH;
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
