import { isFault } from "../../../../lib/contract/faults.ts";
import { MINUTE_MS } from "../../../../lib/time.ts";
import type { Queue, Queued } from "../../../../mixins/queue.ts";
import type { TenantCollection } from "../../../../storage/collection.ts";
import type { AgentState } from "../../../identity/agents/agents.contract.ts";
import { activeTenants } from "../../../identity/tenants/find-tenants.ts";
import { noteChange } from "../../../platform/usage/tally.ts";
import type { StorageUsage } from "../../../platform/usage/usage.ts";
import type {
  AgentMatches,
  HistoryParams,
  MatchAgentParams,
  PastEvent,
} from "../../interests/match-agent.ts";
import { deliveryTo, type NewDelivery, type Receiver } from "../../interests/receiver.ts";
import { type DeliveryDeps, type DeliveryDoc, deliveryId, OVER } from "../deliveries.model.ts";
import type { Enqueuer } from "../enqueue.ts";
import { MOST_PENDING, type Obstacle } from "./history.contract.ts";
import type { ReplayDoc } from "./history.model.ts";

/** Limits of replays in work: on this node, of one tenant, and of one agent. */
export const IN_WORK = { capacity: 4, perTenant: 1, perCaller: 1 };
/** Events that one turn examines. */
const PAGE = 500;
/** Share of a minute's deliveries that one turn creates, and their limit. */
const TURNS_A_MINUTE = 30;
const MOST_DELIVERED = 500;
/** Delay of a replay that waits. */
const WAIT_MS = 2_000;

interface PlayerDeps extends DeliveryDeps {
  usage: Pick<StorageUsage, "isFull">;
  enqueuer: Enqueuer;
  replays: TenantCollection<ReplayDoc>;
  queue: Queue<ReplayDoc>;
  /** Looks for work now, or in so many milliseconds. */
  loop: { nudge(): void; within(ms: number): void };
}

/** The fields of a replay that decide which events it delivers. */
export type Wanted = Pick<
  ReplayDoc,
  "_id" | "tenant_id" | "agent_id" | "interest_id" | "again" | "from" | "next" | "until"
>;

/**
 * Carries out replays, in turns. A turn examines a page of events from `next` on, creates their deliveries and only
 * then moves `next`, with a write that checks its lease. A turn that is repeated after a crash, or on another node,
 * creates no delivery again: each has the id of its event and agent, and the id of the replay that created it.
 */
export class Player {
  readonly #deps: PlayerDeps;

  constructor(deps: PlayerDeps) {
    this.#deps = deps;
  }

  /** Begins the next turn of one replay; returns false if none is due or this node is at its limit. */
  work(): Promise<boolean> {
    const { queue, loop } = this.#deps;
    return queue.begin(
      (claimed) => this.#turn(claimed),
      () => loop.nudge(),
    );
  }

  stop(): Promise<void> {
    return this.#deps.queue.ended();
  }

  async #turn(claimed: Queued<ReplayDoc>): Promise<void> {
    const { queue, broker } = this.#deps;
    const failed = (row: Queued<ReplayDoc>, err: unknown) => this.#onFailed(row, err as Error);
    const lost = "deliveries: a replay's turn is repeated when its lease ends";
    await queue
      .hold(claimed, (row) => this.#play(row), failed)
      .catch((err) => broker.logger.warn({ err }, lost));
    noteChange(claimed.tenant_id);
  }

  async #play(row: Queued<ReplayDoc>): Promise<void> {
    const { store } = this.#deps;
    const began = performance.now();
    const waiting_for = await this.#obstacle(row);
    if (waiting_for) return this.#release(row, WAIT_MS, { waiting_for });
    const most = Math.min(Math.ceil(row.per_minute / TURNS_A_MINUTE), MOST_DELIVERED);
    const { next, reached, examined, requests, isLast } = await this.examine(row, most);
    const delivered = await this.#deliver(row, requests);
    const progress = {
      ...{ next, reached: reached ?? row.reached, waiting_for: null, error: null },
      examined: row.examined + examined,
      matched: row.matched + requests.length,
      delivered: row.delivered + delivered,
    };
    if (isLast) return this.#end(row, { ...progress, state: "completed", ended_at: new Date(store.now()) });
    // Reading and matching take half of the time at most.
    const worked = performance.now() - began;
    await this.#release(row, Math.max((delivered * MINUTE_MS) / row.per_minute, worked), progress);
  }

  /** Why the replay must wait; null if it need not. */
  async #obstacle({ tenant_id, agent_id }: ReplayDoc): Promise<Obstacle | null> {
    const { broker, usage } = this.#deps;
    const agent_ids = [agent_id];
    const [[agent], active] = await Promise.all([
      broker.call<AgentState[], unknown>("agents.get_many", { tenant_id, agent_ids }),
      activeTenants(broker, [{ tenant_id }]),
    ]);
    if (agent?.status !== "active" || active.size === 0) return "inactive";
    if (usage.isFull(tenant_id)) return "storage_quota";
    return (await this.#hasMostPending(tenant_id, agent_id)) ? "pending" : null;
  }

  /** By the index of polls: no more entries than the limit are read. */
  async #hasMostPending(tenant_id: string, agent_id: string): Promise<boolean> {
    const options = { skip: MOST_PENDING - 1, limit: 1, projection: { _id: 1 } } as const;
    for (const state of ["ready", "waiting"] as const)
      if ((await this.#deps.deliveries.find(tenant_id, { state, agent_id }, options)).length > 0) return true;
    return false;
  }

  /** Examines the next page of events, up to `most` matches. @throws Fault not_found if the interest is gone */
  async examine({ _id: replay_id, ...of }: Wanted, most: number) {
    const { broker } = this.#deps;
    const { tenant_id, agent_id, interest_id, next, until } = of;
    const from = next ?? of.from?.getTime() ?? 0;
    const range = { tenant_id, from, until: until.getTime(), limit: PAGE };
    const events = await broker.call<PastEvent[], HistoryParams>("events.history", range);
    const params = { tenant_id, agent_id, interest_id, events, most };
    // Also without events: an interest that is gone is reported.
    const { examined, matches } = await broker.call<AgentMatches, MatchAgentParams>(
      "interests.match_agent",
      params,
    );
    const known = new Map(events.map((event) => [event.event_id, event]));
    const requests = matches.map(({ event_id, receivers: [receiver] }) => {
      const { type, size } = known.get(event_id) as PastEvent;
      return { ...deliveryTo(receiver as Receiver, { tenant_id, event_id, type, size }), replay_id };
    });
    const last = events[examined - 1];
    return {
      // Sorts after the position, and before all others.
      next: last ? `${last.position}~` : next,
      reached: last ? new Date(last.accepted_at) : null,
      ...{ examined, requests },
      isLast: examined === events.length && events.length < PAGE,
    };
  }

  /** Splits requests by what the agent has: those that are new to it, and those that it is given again. */
  async split({ _id, again }: Wanted, requests: NewDelivery[]) {
    const known = await this.#known(requests);
    const fresh = requests.filter((each) => !known.has(idOf(each)));
    const renewed = requests.filter((each) => {
      const row = known.get(idOf(each));
      return again && row && row.replay_id !== _id && OVER.includes(row.state);
    });
    return { fresh, renewed };
  }

  /** Creates deliveries; returns how many are of this replay, which an earlier attempt may have created. */
  async #deliver(replay: Wanted, requests: NewDelivery[]): Promise<number> {
    if (requests.length === 0) return 0;
    const { enqueuer } = this.#deps;
    const { fresh, renewed } = await this.split(replay, requests);
    if (fresh.length) await enqueuer.enqueue(fresh);
    if (renewed.length) await enqueuer.renew(renewed);
    const rows = await this.#known(requests);
    return [...rows.values()].filter(({ replay_id }) => replay_id === replay._id).length;
  }

  async #known(requests: NewDelivery[]) {
    const [first] = requests;
    if (!first) return new Map<string, DeliveryDoc>();
    const options = { projection: { state: 1, replay_id: 1 } } as const;
    const filter = { _id: { $in: requests.map(idOf) } };
    const rows = await this.#deps.deliveries.find(first.tenant_id, filter, options);
    return new Map(rows.map((row) => [row._id, row]));
  }

  async #onFailed(row: Queued<ReplayDoc>, err: Error): Promise<void> {
    const { broker, store } = this.#deps;
    const error = err.message;
    if (isFault(err) && err.type === "not_found")
      return this.#end(row, { state: "failed", error, ended_at: new Date(store.now()) });
    broker.logger.warn({ err, replay_id: row._id }, "deliveries: a replay failed and will be retried");
    await this.#release(row, WAIT_MS, { waiting_for: "error", error: "A part of the service failed." });
  }

  async #release(row: Queued<ReplayDoc>, ms: number, progress: Partial<ReplayDoc>): Promise<void> {
    const { queue, store, loop } = this.#deps;
    await queue.release(row, store.now() + ms, progress);
    loop.within(ms);
  }

  async #end({ _id, tenant_id, queue }: Queued<ReplayDoc>, progress: Partial<ReplayDoc>): Promise<void> {
    const $set = { waiting_for: null, ...progress };
    const $unset = { queue: 1, running_key: 1 } as const;
    await this.#deps.replays.update(tenant_id, { _id, queue }, { $set, $unset });
  }
}

const idOf = ({ event_id, agent_id }: NewDelivery) => deliveryId(event_id, agent_id);
