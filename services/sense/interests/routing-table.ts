import { hash } from "node:crypto";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { compareDelays } from "../../../lib/queue/backoff.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { EnrichmentDepth } from "./interests.contract.ts";
import type { InterestDoc } from "./interests.model.ts";
import { MatchIndex } from "./match-index.ts";
import type { Listener, Receiver, Subscription } from "./receiver.ts";

const DEPTH_RANK = { none: 0, shallow: 1, deep: 2 } as const;
/** How long resolving the receivers of one event may block the event loop. */
const SLICE_MS = 2;
/** Types whose receivers are kept, and receivers of one. */
const MOST_TYPES = 1_000;
const MOST_KEPT = 100;

/** How an interest's deliveries are made. */
export type InterestSettings = Pick<
  InterestDoc,
  "enrichment_depth" | "retry_delays_seconds" | "ordering_key"
>;

/** Those of most interests. */
export const USUAL: InterestSettings = {
  enrichment_depth: "none",
  retry_delays_seconds: null,
  ordering_key: null,
};

interface Matched {
  receivers: Receiver[];
  waits: Subscription[];
}

/** The routing of one tenant, as of one routing version. */
export class RoutingTable {
  version: number;
  readonly #index = new MatchIndex();
  /** Settings of the interests that have others than most. */
  readonly #settings = new Map<string, InterestSettings>();
  /** Interests that have matched no event, and those of them that have since `takeMatched`. */
  readonly #unmatched = new Set<string>();
  #matched: string[] = [];
  #waits = 0;
  readonly #members = new Map<string, Set<string>>();
  readonly #inactive = new Set<string>();
  /** Interned agent ids: every row has its own copy of the text. */
  readonly #agents = new Map<string, string>();
  /** By type, the receivers of all its events: where nothing else of them decides. */
  readonly #byType = new LruMap<string, Receiver[]>(MOST_TYPES);
  #changes = 0;

  constructor(version: number) {
    this.version = version;
  }

  get size(): number {
    return this.#index.size;
  }

  /** Returns the receivers of all events of a type, if they are known. */
  ofType(type: string): Receiver[] | undefined {
    return this.#byType.get(type);
  }

  async match(event: CloudEvent): Promise<Matched>;
  async match(event: CloudEvent, maxMs?: number): Promise<Matched | null>;
  /** Returns the active receivers, each once, and the waits that match; null if that takes more than `maxMs`. */
  async match(event: CloudEvent, maxMs?: number): Promise<Matched | null> {
    const changes = this.#changes;
    const result = await this.#index.match(event, maxMs);
    if (!result) return null;
    const { matched, errors, suspended } = result;
    if (errors) metrics.filterErrors.inc(errors);
    if (suspended) metrics.filterSuspensions.inc(suspended);
    const waits = this.#waits > 0 ? matched.filter(({ kind }) => kind === "wait") : [];
    const receivers = await this.#toReceivers(matched, event);
    const isKept = result.byType && waits.length === 0 && receivers.length <= MOST_KEPT;
    const hasKeys = () => matched.some(({ id }) => this.#settings.get(id)?.ordering_key);
    if (isKept && changes === this.#changes && !hasKeys()) this.#byType.set(event.type, receivers);
    return { receivers, waits };
  }

  /** Forgets what was known by type. Every change of the table calls it. */
  #changed(): void {
    this.#changes++;
    this.#byType.clear();
  }

  /** In slices: there may be very many. */
  async #toReceivers(matched: Subscription[], event: CloudEvent): Promise<Receiver[]> {
    const slices = new Slices(SLICE_MS);
    const receivers = new Map<string, Reasons>();
    // The current members: the set may change in between.
    const membersOf = (channel_id: string) => [...(this.#members.get(channel_id) ?? [])];
    for (const _ of gatherInSteps(receivers, matched, membersOf)) if (slices.over) await slices.next();
    const result: Receiver[] = [];
    for (const each of receivers) {
      this.#present(result, each, event);
      if (result.length % 100 === 0 && slices.over) await slices.next();
    }
    return result;
  }

  #present(result: Receiver[], [agent_id, reasons]: [string, Reasons], event: CloudEvent): void {
    if (this.#inactive.has(agent_id)) return;
    const { interest_ids, feed_ids, priority } = reasons;
    if (this.#unmatched.size > 0)
      for (const id of interest_ids) if (this.#unmatched.delete(id)) this.#matched.push(id);
    const settings = this.#settings.size ? interest_ids.flatMap((id) => this.#settings.get(id) ?? []) : [];
    const enrichment_depth = deepest(settings);
    const receiver: Receiver = { agent_id, interest_ids, feed_ids, priority, enrichment_depth };
    const delays = soonest(settings);
    if (delays) receiver.retry_delays_seconds = delays;
    const ordering = orderingBy(settings, event);
    if (ordering !== undefined) receiver.ordering = ordering;
    result.push(receiver);
  }

  /** Returns the interests that have matched their first event since the last call. */
  takeMatched(): string[] {
    if (this.#matched.length === 0) return [];
    const matched = this.#matched;
    this.#matched = [];
    return matched;
  }

  takes(type: string): Promise<boolean> {
    return this.#index.takes(type);
  }

  /** Returns the first `most` active agents, with their subscriptions, whose globs match a type. Yields every 2 ms. */
  async listenersTo(type: string, most: number): Promise<Listener[]> {
    const slices = new Slices(SLICE_MS);
    const receivers = new Map<string, Reasons>();
    const membersOf = (channel_id: string) =>
      [...(this.#members.get(channel_id) ?? [])].filter((id) => !this.#inactive.has(id));
    for (const subscription of this.#index.subscriptionsTo(type)) {
      if (slices.over) await slices.next();
      if (!subscription || this.#inactive.has(subscription.agent_id ?? "")) continue;
      for (const _ of gatherInSteps(receivers, [subscription], membersOf))
        if (slices.over) await slices.next();
      if (receivers.size >= most) break;
    }
    return [...receivers].slice(0, most).map(([agent_id, { interest_ids, feed_ids }]) => {
      return { agent_id, interest_ids, feed_ids };
    });
  }

  /** Returns for how many ms this interest's or feed's filter or glob is still suspended; 0 if it is not. */
  suspendedFor(id: string): number {
    return this.#index.suspendedFor(id);
  }

  /** Adds a subscription, replacing one with the same id. @param settings of an interest */
  subscribe(subscription: Subscription, settings = USUAL): void {
    this.#changed();
    const { unmatched = false, ...kept } = subscription;
    const { agent_id, id } = kept;
    if (kept.kind === "wait" && !this.#index.get(id)) this.#waits++;
    this.#index.add(agent_id ? { ...kept, agent_id: this.#agent(agent_id) } : kept);
    if (unmatched) this.#unmatched.add(id);
    else this.#unmatched.delete(id);
    const { enrichment_depth, retry_delays_seconds, ordering_key } = settings;
    if (enrichment_depth === "none" && !retry_delays_seconds && !ordering_key) this.#settings.delete(id);
    else this.#settings.set(id, { enrichment_depth, retry_delays_seconds, ordering_key });
  }

  unsubscribe(id: string): void {
    this.#changed();
    if (this.#index.get(id)?.kind === "wait") this.#waits--;
    this.#index.remove(id);
    this.#settings.delete(id);
    this.#unmatched.delete(id);
  }

  join(channel_id: string, agent_id: string): void {
    this.#changed();
    const agent = this.#agent(agent_id);
    const members = this.#members.get(channel_id);
    if (members) members.add(agent);
    else this.#members.set(channel_id, new Set([agent]));
  }

  leave(channel_id: string, agent_id: string): void {
    this.#changed();
    this.#members.get(channel_id)?.delete(agent_id);
  }

  /** Removes a channel's feeds and members. */
  empty(channel_id: string): void {
    this.#changed();
    this.#members.delete(channel_id);
    this.#index.removeFeeds(channel_id);
  }

  setActive(agent_id: string, active: boolean): void {
    this.#changed();
    if (active) this.#inactive.delete(agent_id);
    else this.#inactive.add(agent_id);
  }

  #agent(id: string): string {
    const known = this.#agents.get(id);
    if (known === undefined) this.#agents.set(id, id);
    return known ?? id;
  }
}

function deepest(settings: InterestSettings[]): EnrichmentDepth {
  const depths = settings.map(({ enrichment_depth }) => enrichment_depth);
  return depths.reduce((a, b) => (DEPTH_RANK[b] > DEPTH_RANK[a] ? b : a), "none");
}

function soonest(settings: InterestSettings[]): readonly number[] | undefined {
  const set = settings.flatMap(({ retry_delays_seconds: delays }) => (delays ? [delays] : []));
  return set.length ? set.reduce((a, b) => (compareDelays(b, a) < 0 ? b : a)) : undefined;
}

/** Returns the digest of the first key, in alphabetical order, that has a value in the event. */
function orderingBy(settings: InterestSettings[], event: CloudEvent): string | undefined {
  const keys = settings.flatMap(({ ordering_key }) => ordering_key || []).sort();
  return keys.map((key) => orderingOf(event, key)).find((ordering) => ordering !== undefined);
}

/**
 * Returns a digest of an event's value at a path such as `subject` or `data.order_id`; undefined if it is missing, empty,
 * or no text, number or boolean. Equal texts and numbers have the same digest.
 */
export function orderingOf(event: CloudEvent, path: string): string | undefined {
  let value: unknown = event;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  if (!["string", "number", "bigint", "boolean"].includes(typeof value) || value === "") return undefined;
  return hash("sha256", String(value), "base64url").slice(0, 22);
}

export type Reasons = Pick<Receiver, "interest_ids" | "feed_ids" | "priority">;

type MembersOf = (channelId: string) => Iterable<string>;

/** Receivers that `gatherInSteps` adds between two pauses. */
const PAUSE_EVERY = 100;

/** Adds an event's receivers, each once, by their interests and channels, in parts: the caller may yield after each. */
export function* gatherInSteps(
  receivers: Map<string, Reasons>,
  matched: Iterable<Subscription>,
  membersOf: MembersOf,
): Generator<void> {
  let added = 0;
  for (const subscription of matched) {
    if (subscription.kind === "wait") continue;
    if (subscription.kind === "feed") {
      for (const agent of membersOf(subscription.channel_id as string)) {
        reasonsOf(receivers, agent).feed_ids.push(subscription.id);
        if (++added % PAUSE_EVERY === 0) yield;
      }
    } else {
      const reasons = reasonsOf(receivers, subscription.agent_id as string);
      reasons.interest_ids.push(subscription.id);
      reasons.priority = Math.max(reasons.priority, subscription.priority);
      if (++added % PAUSE_EVERY === 0) yield;
    }
  }
}

function reasonsOf(receivers: Map<string, Reasons>, agent: string): Reasons {
  const known = receivers.get(agent);
  if (known !== undefined) return known;
  const added: Reasons = { interest_ids: [], feed_ids: [], priority: 0 };
  receivers.set(agent, added);
  return added;
}
