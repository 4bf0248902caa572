import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { metrics } from "../../../observability/metrics.ts";
import { gatherInSteps, gatherReceivers, type Reasons } from "./gather-receivers.ts";
import type { Work } from "./glob-index.ts";
import type { EnrichmentDepth } from "./interests.contract.ts";
import { MatchIndex } from "./match-index.ts";
import type { Receiver } from "./receiver.ts";
import type { RoutingChange, Subscription } from "./routing-change.ts";

const DEPTH_RANK = { none: 0, shallow: 1, deep: 2 } as const;
/** How long resolving the receivers of one event may block the event loop. */
const SLICE_MS = 2;
/** Limit of changes kept that arrived before their predecessor. */
const MAX_AHEAD = 1_000;

/** The routing of one tenant, as of one routing version. */
export class RoutingTable {
  version: number;
  readonly #index = new MatchIndex();
  /** Interests with a depth other than none. */
  readonly #depths = new Map<string, EnrichmentDepth>();
  readonly #members = new Map<string, Set<string>>();
  readonly #inactive = new Set<string>();
  /** Interned agent ids: every row has its own copy of the text. */
  readonly #agents = new Map<string, string>();
  readonly #ahead = new Map<number, RoutingChange>();

  constructor(version: number) {
    this.version = version;
  }

  get size(): number {
    return this.#index.size;
  }

  /** Returns the receivers of the event, without duplicates and inactive agents. */
  async match(event: CloudEvent): Promise<Receiver[]> {
    const { matched, errors, suspended } = await this.#index.matchInSlices(event);
    if (errors) metrics.filterErrors.inc(errors);
    if (suspended) metrics.filterSuspensions.inc(suspended);
    return this.#toReceiversInSlices(matched);
  }

  /**
   * As `match`, if no filter must be evaluated, there are at most `most` receivers and the cost is within the remaining
   * work; else null.
   */
  matchByLookup(event: CloudEvent, most: number, work: Work): Receiver[] | null {
    const matched = this.#index.lookUp(event, most, work);
    if (!matched) return null;
    let reached = 0;
    for (const { channel_id } of matched)
      reached += channel_id === undefined ? 1 : (this.#members.get(channel_id)?.size ?? 0);
    return reached > most ? null : this.#toReceivers(matched);
  }

  #toReceivers(matched: Subscription[]): Receiver[] {
    if (matched.length === 0) return [];
    const result: Receiver[] = [];
    const found = gatherReceivers(matched, (channel_id) => this.#members.get(channel_id) ?? []);
    for (const each of found) this.#present(result, each);
    return result;
  }

  /** As above, for very many. */
  async #toReceiversInSlices(matched: Subscription[]): Promise<Receiver[]> {
    const slices = new Slices(SLICE_MS);
    const found = new Map<string, Reasons>();
    // The current members: the set may change in between.
    const membersOf = (channel_id: string) => [...(this.#members.get(channel_id) ?? [])];
    for (const _ of gatherInSteps(found, matched, membersOf)) if (slices.over) await slices.next();
    const result: Receiver[] = [];
    for (const each of found) {
      this.#present(result, each);
      if (result.length % 100 === 0 && slices.over) await slices.next();
    }
    return result;
  }

  #present(result: Receiver[], [agent_id, reasons]: [string, Reasons]): void {
    if (this.#inactive.has(agent_id)) return;
    const { interest_ids, feed_ids, priority } = reasons;
    const enrichment_depth = this.#depths.size ? this.#deepest(interest_ids) : "none";
    result.push({ agent_id, interest_ids, feed_ids, priority, enrichment_depth });
  }

  /** Whether any agent may receive events of this type. */
  takes(type: string): Promise<boolean> {
    return this.#index.takes(type);
  }

  /** Returns for how many ms this interest's or feed's filter or glob is still suspended; 0 if it is not. */
  suspendedFor(id: string): number {
    return this.#index.suspendedFor(id);
  }

  /** Applies a change if it is the next version; a later one waits for its predecessors. */
  follow(version: number, change: RoutingChange): void {
    if (version <= this.version) return;
    if (version > this.version + 1) {
      if (this.#ahead.size < MAX_AHEAD) this.#ahead.set(version, change);
      return;
    }
    for (let next: RoutingChange | undefined = change; next; next = this.#ahead.get(this.version + 1)) {
      this.apply(next);
      this.#ahead.delete(++this.version);
    }
  }

  /** Applies a change, whatever the version. */
  apply(change: RoutingChange): void {
    switch (change.kind) {
      case "subscribe":
        this.#subscribe(change);
        break;
      case "unsubscribe":
        this.#index.remove(change.id);
        this.#depths.delete(change.id);
        break;
      case "join":
        this.join(change.channel_id, change.agent_id);
        this.setActive(change.agent_id, change.agent_active);
        break;
      case "leave":
        this.#members.get(change.channel_id)?.delete(change.agent_id);
        break;
      case "agent":
        this.setActive(change.agent_id, change.active);
        break;
    }
  }

  join(channel_id: string, agent_id: string): void {
    const agent = this.#agent(agent_id);
    const members = this.#members.get(channel_id);
    if (members) members.add(agent);
    else this.#members.set(channel_id, new Set([agent]));
  }

  setActive(agent_id: string, active: boolean): void {
    if (active) this.#inactive.delete(agent_id);
    else this.#inactive.add(agent_id);
  }

  #subscribe({ subscription, depth = "none", agent_active }: RoutingChange & { kind: "subscribe" }): void {
    const { agent_id } = subscription;
    this.#index.add(agent_id ? { ...subscription, agent_id: this.#agent(agent_id) } : subscription);
    if (depth === "none") this.#depths.delete(subscription.id);
    else this.#depths.set(subscription.id, depth);
    if (agent_id && agent_active !== undefined) this.setActive(agent_id, agent_active);
  }

  #agent(id: string): string {
    const known = this.#agents.get(id);
    if (known === undefined) this.#agents.set(id, id);
    return known ?? id;
  }

  #deepest(interest_ids: string[]): EnrichmentDepth {
    let deepest: EnrichmentDepth = "none";
    for (const id of interest_ids) {
      const depth = this.#depths.get(id) ?? "none";
      if (DEPTH_RANK[depth] > DEPTH_RANK[deepest]) deepest = depth;
    }
    return deepest;
  }
}
