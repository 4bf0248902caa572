import { keyedBy } from "../../../mixins/affinity.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import * as artifact from "./artifacts.contract.ts";
import { attachExemplar, listArtifacts, registerArtifact } from "./artifacts.ts";
import { closeRun } from "./close.ts";
import { createRun } from "./create.ts";
import * as offer from "./offers.contract.ts";
import { acceptOffer, declineOffer, listOffers, offerHandoff } from "./offers.ts";
import { getHistory, getPosition, getRetrospective, getRun, getStatusDocument, listRuns } from "./read.ts";
import { relayChanged, relayLeft } from "./relay.ts";
import { RunStore } from "./run-store.ts";
import * as contract from "./runs.contract.ts";
import { internalActions } from "./runs.internal.ts";
import { checkStale } from "./stale-check.ts";
import * as step from "./steps.contract.ts";
import { assignStep, completeStep, reopenStep, skipStep, startStep } from "./steps.ts";

const RELAY_MS = 1000;
const STALE_CHECK_MS = 5000;
const UNPUBLISHED = "runs: events could not be published; the next sweep retries";
const UNCHECKED = "runs: stale steps could not be checked; the next sweep retries";

/** Runs: goal-directed work of people and agents, step by step (spec: Process run). */
export const runsService: ServiceFactory = ({ store: db, blobs }) => {
  const store = new RunStore(db, () => relaying.nudge());
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

      create: action(contract.createRun, (ctx) => createRun(store, ctx)),
      list: action(contract.listRuns, (ctx) => listRuns(store, ctx)),
      get: action(contract.getRun, (ctx) => getRun(store, ctx)),
      position: action(contract.runPosition, (ctx) => getPosition(store, ctx)),
      retrospective: action(contract.retrospective, (ctx) => getRetrospective(store, ctx)),
      history: action(contract.runHistory, (ctx) => getHistory(store, ctx)),
      status_document: action(contract.statusDocument, (ctx) => getStatusDocument(store, ctx)),
      ...internalActions(store),
    },

    stopped: () => store.recent.stop(),
  };
};
