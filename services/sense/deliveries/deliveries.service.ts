import type { ActionSchema, ServiceBroker, ServiceSchema } from "moleculer";
import { hasScope, type OfAgent, type OfTenant } from "../../../lib/access/caller.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { isOwner, keyedBy } from "../../../mixins/affinity.ts";
import { type Loop, ServiceLoop } from "../../../mixins/loop.ts";
import { Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { AgentState } from "../../identity/agents/agents.contract.ts";
import { recentOf } from "../../platform/usage/tally.ts";
import { action, event, idempotent, internal, type Runtime } from "../../runtime.ts";
import type { NewDelivery } from "../interests/receiver.ts";
import * as ofAgents from "./agent-deliveries.contract.ts";
import { AgentDeliveries } from "./agent-deliveries.ts";
import { AgentSettingsCache } from "./agent-settings.ts";
import { observeBacklog } from "./backlog.ts";
import { Claims } from "./claim.ts";
import * as dead from "./dead-letters.contract.ts";
import { countGroups, DeadLetters, discardMany, newAnnouncements, type Unmappable } from "./dead-letters.ts";
import * as contract from "./deliveries.contract.ts";
import { type DeliveryDoc, DeliveryModel } from "./deliveries.model.ts";
import { Enqueuer } from "./enqueue.ts";
import {
  countsOf,
  forgetEvents,
  givenTo,
  type OfEvent,
  type OpenEvents,
  openEvents,
  receiversOf,
} from "./event-deliveries.ts";
import { AgentHealth } from "./health/health.ts";
import { ProgressModel } from "./health/progress.model.ts";
import { Progress } from "./health/progress.ts";
import * as replay from "./history/history.contract.ts";
import { ReplayModel } from "./history/history.model.ts";
import { History } from "./history/history.ts";
import { IN_WORK, Player } from "./history/player.ts";
import { type AgentsOfTenant, findReadyAgents, notifyReady } from "./notify.ts";
import { Ordering } from "./ordering.ts";
import { answerPoll, nextDeliveries, POLL_TIMEOUT_MS, settleAndReceive } from "./poll.ts";
import { ReadyDeliveries } from "./ready.ts";
import { RECHECK_MS, type Received, type ReceiveRequest, RequestQueues } from "./receive.ts";
import { Replays } from "./replay.ts";
import { type Outcomes, Settlements } from "./settle.ts";
import { Statistics } from "./stats.ts";
import { Sweep } from "./sweep.ts";

/** Delay of the fallback check for ended leases. */
const DUE_MS = 250;
const RELAY_MS = 1000;
const RETIRE_MS = 60_000;
const AHEAD_MS = 60_000;
const FLUSH_MS = 5_000;
/** Less than the lease of a push, which is the backstop. */
const EXCHANGE_TIMEOUT_MS = 15_000;
/** As long as a stream waits, plus the time to answer. */
const CLAIM_TIMEOUT_MS = (contract.STREAM_WAIT_SECONDS + 30) * 1000;
/** Until all nodes have noticed that another one has joined or left. */
const MOVED_MS = 5000;

/** A stream's or push worker's request: deliveries to pass on, under its own lease. */
type LeaseRequest = Omit<ReceiveRequest, "cancel_key"> & { lease: string };

/** Deliveries from fan-out to acknowledgement or the dead-letter queue (spec: DeliveryEvent, Delivery states). */
export function deliveriesService(runtime: Runtime): ServiceSchema {
  const deliveries = runtime.store.collection(DeliveryModel);
  let own: Domain;
  const loops = {
    due: new SharedLoop("due", () => own.sweep.endDue(), DUE_MS),
    replays: new SharedLoop("replays", () => own.replays.relay(), RELAY_MS),
    history: new SharedLoop("history", () => own.player.work(), RELAY_MS),
    announcements: new SharedLoop("announcements", () => own.announce(), RELAY_MS),
    ahead: new SharedLoop("ahead", () => own.sweep.endAhead(), AHEAD_MS),
    ordering: new SharedLoop("ordering", () => own.ordering.sweep(), RELAY_MS),
    retire: new SharedLoop("retire", () => own.sweep.retire(), RETIRE_MS),
    recheck: new ServiceLoop("limits", () => own.recheck(), RECHECK_MS),
    progress: new ServiceLoop("progress", () => own.progress.flush(), FLUSH_MS),
  };
  let moving: NodeJS.Timeout | undefined;
  /** The owners of some agents have changed, or a gateway with streams is gone. */
  const moved = event(() => {
    own.requestQueues.recheckMoved();
    clearTimeout(moving);
    moving = setTimeout(() => own.requestQueues.handBackStreams(), MOVED_MS).unref();
  });
  return {
    name: "deliveries",
    mixins: Object.values(loops).map(({ mixin }) => mixin),
    actions: {
      // An agent's queue lives on one node: its requests, its claims and the leases of its streams.
      ...keyedBy("meta.caller.agent_id", {
        poll: withTimeout(
          POLL_TIMEOUT_MS,
          action(contract.pollDeliveries, (ctx) => answerPoll(own, ctx)),
        ),
        ack: action(contract.ackDeliveries, (ctx) => own.settlements.ack(ctx)),
        nack: action(contract.nackDeliveries, (ctx) => own.settlements.nack(ctx)),
        next: withTimeout(
          POLL_TIMEOUT_MS,
          action(contract.receiveNextDeliveries, (ctx) => nextDeliveries(own, ctx)),
        ),
        extend: action(contract.extendDeliveries, (ctx) => own.settlements.extend(ctx)),
      }),
      /** Of streams and push workers on one agent's deliveries. */
      ...keyedBy("params.agent_id", {
        /** Claims deliveries to pass on: the caller settles each, or releases it by its lease. */
        claim: withTimeout(
          CLAIM_TIMEOUT_MS,
          internal<LeaseRequest>(({ params, meta }) => {
            // A push worker has no caller.
            if (meta.caller) own.asks(params);
            const reads_memories = !meta.caller || hasScope(meta.caller, "memory:read");
            return own.requestQueues.receive({ ...params, cancel_key: params.lease, reads_memories });
          }),
        ),
        /** Settles pushes, and claims the next. A push worker has no token: it sends to the agent's own endpoint. */
        exchange: withTimeout(
          EXCHANGE_TIMEOUT_MS,
          internal<LeaseRequest & { outcomes: Outcomes }>(({ params: { outcomes, ...request } }) =>
            exchange(own, { ...request, cancel_key: request.lease, reads_memories: true }, outcomes),
          ),
        ),
        per_minute_left: idempotent<{ agent_id: string; max_per_minute: number }>(
          async ({ params: { agent_id, max_per_minute } }) =>
            own.claims.limits.perMinuteLeft(agent_id, max_per_minute),
        ),
        give_up: internal<OfAgent & { before: number; reason: string }>(({ params }) =>
          own.settlements.giveUp(params),
        ),
      }),

      dead_letters: action(dead.listDeadLetters, ({ params, meta }) =>
        own.deadLetters.list(meta.caller, params),
      ),
      dead_letter_groups: action(dead.listDeadLetterGroups, ({ params, meta }) =>
        countGroups(own, meta.caller, params),
      ),
      discard_many: action(dead.discardDeadLetters, (ctx) => discardMany(own, ctx)),
      discard: action(dead.discardDeadLetter, ({ params, meta }) =>
        own.deadLetters.discard(meta.caller, params.id),
      ),
      replay: action(dead.replayDeadLetter, ({ params: { id, dry_run }, meta }) =>
        own.replays.requestOne(meta.caller, id, dry_run),
      ),
      replay_many: action(dead.replayDeadLetters, (ctx) => own.replays.requestMany(ctx)),
      /** Keeps a payload that a connector could not map, as a dead letter without an agent. */
      dead_letter: internal<Unmappable>(({ params }) => own.deadLetters.add(params)),
      unmapped_payload: idempotent<OfTenant & { id: string }>(({ params: { tenant_id, id } }) =>
        own.deadLetters.unmappedPayload(tenant_id, id),
      ),

      /** Of those who look after an agent. */
      list: action(ofAgents.listDeliveries, (ctx) => own.agentDeliveries.list(ctx)),
      log: action(ofAgents.getDeliveryLog, (ctx) => own.agentDeliveries.log(ctx)),
      explain: action(ofAgents.explainReception, (ctx) => own.agentDeliveries.explain(ctx)),
      drain: action(ofAgents.drainDeliveries, (ctx) => own.agentDeliveries.drain(ctx)),
      health: idempotent<OfTenant & { agents: AgentState[] }>(({ params }) =>
        own.health.of(params.tenant_id, params.agents),
      ),
      /** Returns the ids of the agents that need attention, the worst first. */
      agents_needing_attention: idempotent<OfTenant>(({ params }) => own.health.needing(params.tenant_id)),

      count_replay: action(replay.countReplay, (ctx) => own.history.count(ctx)),
      start_replay: action(replay.startReplay, (ctx) => own.history.start(ctx)),
      replays: action(replay.listReplays, (ctx) => own.history.list(ctx)),
      get_replay: action(replay.getReplay, (ctx) => own.history.get(ctx)),
      cancel_replay: action(replay.cancelReplay, (ctx) => own.history.cancel(ctx)),

      enqueue: idempotent<{ deliveries: NewDelivery[] }>(({ params }) =>
        own.enqueuer.enqueue(params.deliveries),
      ),
      /** For events that this node writes in one commit with their deliveries: the answer cannot travel. */
      prepare: internal<{ deliveries: NewDelivery[] }>(({ params }) =>
        own.enqueuer.prepare(params.deliveries),
      ),
      wake: internal<{ ready: OfAgent[] }>(({ params }) => {
        for (const { agent_id } of params.ready) own.requestQueues.wake(agent_id);
      }),
      /** Returns this node's recent work for a tenant (services/platform/usage/tally.ts). */
      tally: internal<OfTenant>(({ params }) => recentOf(params.tenant_id)),
      any_acknowledged: idempotent<OfTenant>(({ params }) =>
        deliveries.exists(params.tenant_id, { state: "acknowledged" }),
      ),
      overdue: idempotent<object>(() => own.sweep.lateSeconds()),
      counts: idempotent<OfTenant & { event_ids: string[] }>(({ params }) => countsOf(deliveries, params)),
      open_events: idempotent<OpenEvents>(({ params }) => openEvents(deliveries, params)),
      of_event: idempotent<OfEvent & { limit?: number }>(({ params }) =>
        receiversOf(deliveries, params, params.limit ?? 1000),
      ),
      given_to: internal<OfAgent & { event_ids: string[] }>(({ params }) => givenTo(deliveries, params)),
      ready_agents: idempotent<{ agents: AgentsOfTenant[] }>(({ params }) =>
        findReadyAgents(deliveries, params.agents),
      ),
      /** Writes what this node has noted of agents, before texts are erased. */
      flush: internal<object>(() => own.progress.flush()),
      forget_events: internal<OfTenant & { event_ids: string[] }>(({ params }) =>
        forgetEvents(deliveries, params),
      ),
      stats: action(contract.getDeliveryStats, (ctx) => own.statistics.read(ctx)),
    },
    events: {
      "deliveries.stream_closed": event<OfAgent & { lease: string }>((stream) =>
        own.settlements.closeStream(stream),
      ),
      "request.abandoned": event<{ caller_id: string; request_id: string }>(({ caller_id, request_id }) =>
        own.requestQueues.cancel(`${caller_id} ${request_id}`),
      ),
      "agents.changed": event<{ agent_id: string }>(({ agent_id }) => own.agents.forget(agent_id)),
      // All nodes take replays from the queue; only one looks without being told.
      "deliveries.replay_queued": event(() => loops.history.nudge()),
      "$services.changed": moved,
      "$node.disconnected": moved,
      "node.stopping": event(() => own.requestQueues.stop()),
    },
    created() {
      own = newDomain(runtime, deliveries, this.broker, loops);
      observeBacklog(this, deliveries, () => runtime.store.now());
    },
    async started() {
      if (runtime.store.driver === "sqlite") await own.playing.reclaim();
    },
    async stopped() {
      own.requestQueues.stop();
      // Stopped before its turns, which it would follow by others.
      await loops.history.stop();
      await own.player.stop();
      own.ordering.stop();
      await own.ready?.stop();
      await own.progress.flush().catch((err) => this.logger.warn({ err }, SWEEP_FAILED));
    },
  };
}

async function exchange(own: Domain, request: ReceiveRequest, outcomes: Outcomes): Promise<Received> {
  const settling = await own.settlements.prepareOutcomes(request, outcomes);
  const { received } = await settleAndReceive(own, request, settling);
  if (received.status === "rejected") throw received.reason;
  return received.value;
}

/** Gives a long-waiting action its own timeout and no concurrency limit: waiting costs nothing. */
function withTimeout(timeout: number, schema: ActionSchema): ActionSchema {
  // Moleculer knows both; its types do not.
  return { ...schema, timeout, bulkhead: { enabled: false } } as ActionSchema;
}

const SWEEP_FAILED = "deliveries: a sweep failed and will be retried";

type Domain = ReturnType<typeof newDomain>;

function newDomain(
  { store, config, hooks, traffic, usage }: Runtime,
  deliveries: TenantCollection<DeliveryDoc>,
  broker: ServiceBroker,
  loops: Record<"replays" | "announcements" | "history", Pick<Loop, "nudge" | "within">>,
) {
  const { replays, announcements, history: loop } = loops;
  const isOwn = (agent_id: string) => isOwner(broker, "deliveries", agent_id);
  const agents = new AgentSettingsCache(broker, config);
  const ready =
    store.driver === "sqlite"
      ? new ReadyDeliveries(
          (front) => store.behind(DeliveryModel, front),
          (err) => broker.logger.warn({ err }, "deliveries: leases were not written; these are repeated"),
          store.now,
        )
      : null;
  const notify = (agents: OfAgent[]) => notifyReady(broker, agents);
  const stored = { broker, store, deliveries, ready, agents, notifyReady: notify };
  const claims = new Claims({ ...stored, tracing: hooks.tracing });
  const requestQueues = new RequestQueues(claims, () => store.now(), isOwn);
  const ordering = new Ordering(stored);
  const progress = new Progress(store.collection(ProgressModel), config.STUCK_AFTER_SECONDS * 1000);
  const deps = { ...stored, claims, requestQueues, ordering, progress, usage };
  const enqueuer = new Enqueuer(deps);
  const limitedBy = async (tenant_id: string, agent_id: string, in_flight: number) => {
    const { max_in_flight, max_per_minute } = await agents.get(tenant_id, agent_id);
    if (max_in_flight !== null && in_flight >= max_in_flight) return "max_in_flight";
    if (max_per_minute === null) return null;
    const params = { agent_id, max_per_minute };
    const left = await broker.call<number, unknown>("deliveries.per_minute_left", params);
    return left === 0 ? "max_per_minute" : null;
  };
  const statistics = new Statistics(deliveries, store, limitedBy);
  const retentionMs = config.ACKNOWLEDGED_RETENTION_DAYS * DAY_MS;
  const settling = { ...deps, deliveries: deliveries.reserved, announcements, retentionMs };
  // Unmapped payloads are kept as long as events.
  const unmappedMs = Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS) * DAY_MS;
  const health = new AgentHealth({ ...deps, config, traffic, statistics });
  const deadLetters = new DeadLetters({ ...deps, announcements, unmappedMs });
  const played = store.collection(ReplayModel);
  const playing = new Queue(played, store.now, IN_WORK);
  const player = new Player({ ...deps, enqueuer, replays: played, queue: playing, loop });
  return {
    ...deps,
    playing,
    player,
    history: new History({ broker, now: store.now, replays: played, player }),
    logger: broker.logger,
    recheck: () => requestQueues.recheck((of) => findReadyAgents(deliveries, of)),
    enqueuer,
    deadLetters,
    settlements: new Settlements(settling),
    replays: new Replays({ ...deps, deadLetters, enqueuer, loop: replays }),
    sweep: new Sweep(deps),
    announce: newAnnouncements(deps),
    statistics,
    asks: (agent: OfAgent) => progress.asked(agent, store.now()),
    health,
    agentDeliveries: new AgentDeliveries({ ...deps, statistics, health, config }),
  };
}
