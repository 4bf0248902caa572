import type { ServiceBroker } from "moleculer";
import type { MongoBulkWriteError } from "mongodb";
import type { OfAgent } from "../../../lib/access/caller.ts";
import { apart } from "../../../lib/queue/work.ts";
import { pastGroup } from "../../../mixins/queue.ts";
import { Quiet } from "../../../mixins/quiet.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { takenRows } from "../../../storage/write-errors.ts";
import { type DeliveryDoc, SHORTEST } from "./deliveries.model.ts";
import type { ReadyDeliveries } from "./ready.ts";

/** Set on a delivery until it is the one of its group that may be delivered. */
interface Held {
  held_key: string;
}

type HeldDoc = DeliveryDoc & Held;

/** The first held deliveries of groups whose active ones are about to be settled. */
export interface Next {
  tenant_id: string;
  groups: readonly string[];
  heads: HeldDoc[];
}

interface OrderingDeps {
  broker: Pick<ServiceBroker, "call" | "logger">;
  deliveries: TenantCollection<DeliveryDoc>;
  /** Null on a store with several nodes. */
  ready: ReadyDeliveries | null;
  notifyReady: (ready: OfAgent[]) => void;
}

/** Delay before groups are looked at again that wait for the fan-out of earlier events. */
const PAUSE_MS = 25;
const RETRY_MS = 1000;
/** How long the horizon of a tenant is kept. */
const KEPT_MS = 60_000;
/** Groups per round. */
const BATCH = 200;
/** Deliveries of a group that are read to find the first of many groups at once. */
const READ_EACH = 4;
/** A horizon is used for this multiple of the time that reading it took. */
const REST_FACTOR = 10;
/** Deliveries that the sweep reads at a time, and how often in one run. */
const SWEPT = 200;
const SWEPT_PAGES = 10;

/**
 * Deliveries in order of their key: those of an agent with one value of the key are a group (`<agent> <digest>`), and
 * the group's deliveries are delivered one after the other, in the order in which their events were accepted.
 *
 * A delivery with a key is written as `waiting`, with a `held_key` (`<group> <position of its event>`) and no `due_at`:
 * claims and sweeps do not see it, however many there are. The group's first one is released: it becomes `ready`, and its
 * `held_key` an `active_key` (`<group>`), which it keeps until it is acknowledged, dead or discarded. `active_key` is
 * unique: two nodes cannot release two deliveries of one group. None is released while an earlier event may still be
 * fanned out. An acknowledgement releases the next with its own writes (`next`, `follow`); whatever else settles a delivery
 * asks for it (`release`). The sweep finds groups for which a crash lost that.
 */
export class Ordering {
  readonly #deps: OrderingDeps;
  /** Groups to look at, by tenant. */
  readonly #asked = new Map<string, Set<string>>();
  readonly #horizons = new Map<string, { position: string; until: number }>();
  /** Where the sweep continues. */
  #after = "";
  readonly #quiet: Quiet;
  #isStopped = false;

  constructor(deps: OrderingDeps) {
    this.#deps = deps;
    // Only a write makes a group need a look.
    this.#quiet = new Quiet(deps.deliveries.name, () => 0);
  }

  /** Releases the first delivery of each group, unless another one of the group is active. */
  release(tenant_id: string, groups: Iterable<string | undefined>): void {
    const waiting = this.#asked.get(tenant_id);
    const set = waiting ?? new Set<string>();
    for (const group of groups) if (group !== undefined) set.add(group);
    if (waiting || set.size === 0) return;
    this.#asked.set(tenant_id, set);
    // Not as background work: its steps would wait for turns, at 300 µs for each ordered event, and acknowledgements bound it.
    void apart(() => this.#run(tenant_id, set));
  }

  /** Reads the next deliveries of groups, before what settles those that are active is written. */
  async next(tenant_id: string, groups: readonly string[]): Promise<Next> {
    // Not one by one in the turns of the call.
    const { heads } = await apart(() => this.#findHeads(tenant_id, [...new Set(groups)]));
    return { tenant_id, groups, heads };
  }

  /**
   * Releases the next deliveries. On a store with one node its writes must be sent right behind those that settle the
   * active ones: both are one commit. With several nodes they follow them.
   */
  async follow({ tenant_id, groups, heads }: Next, settling: Promise<unknown>): Promise<void> {
    try {
      if (!this.#deps.ready) await settling;
      const released = await this.#activate(tenant_id, heads);
      await settling;
      // Some had no next one, which may have come meanwhile.
      this.release(
        tenant_id,
        groups.filter((group) => !released.has(group)),
      );
    } catch {
      this.#releaseLater(tenant_id, [...groups], PAUSE_MS);
    }
  }

  /** Asks for groups with held deliveries, some at each run: a crash, or a deletion, may have left them without an active one. */
  async sweep(): Promise<boolean> {
    const projection = { tenant_id: 1, held_key: 1 } as const;
    const options = { sort: { held_key: 1 }, projection, limit: SWEPT } as const;
    for (let page = 0; page < SWEPT_PAGES; page++) {
      if (this.#after === "") {
        if (this.#quiet.isQuiet) return false;
        this.#quiet.begin();
      }
      const filter = { held_key: { $gt: this.#after } };
      const rows = (await this.#deps.deliveries.system.find(filter, options).toArray()) as HeldDoc[];
      for (const [tenant_id, own] of Map.groupBy(rows, (row) => row.tenant_id))
        this.release(tenant_id, own.map(groupOf));
      const last = rows.at(-1);
      // The rest of the last one's group needs no look.
      this.#after = last && rows.length === SWEPT ? pastGroup(`${groupOf(last)} ~`, last.held_key) : "";
      if (this.#after !== "") continue;
      await this.#quiet.foundNothing(() => false);
      return false;
    }
    return false;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #run(tenant_id: string, groups: Set<string>): Promise<void> {
    while (groups.size > 0 && !this.#isStopped) {
      const batch = [...groups].slice(0, BATCH);
      for (const group of batch) groups.delete(group);
      try {
        this.#releaseLater(tenant_id, await this.#releaseFirst(tenant_id, batch), PAUSE_MS);
      } catch (err) {
        this.#deps.broker.logger.warn({ err }, "deliveries: the next in order could not be released yet");
        this.#releaseLater(tenant_id, batch, RETRY_MS);
      }
    }
    this.#asked.delete(tenant_id);
  }

  #releaseLater(tenant_id: string, groups: string[], ms: number): void {
    if (groups.length) setTimeout(() => this.release(tenant_id, groups), ms).unref();
  }

  /** Returns the groups whose first delivery cannot be released yet. */
  async #releaseFirst(tenant_id: string, groups: string[]): Promise<string[]> {
    const rows = this.#rows;
    // Settling an active one asks again.
    const options = { projection: { active_key: 1 }, limit: groups.length } as const;
    const active = await rows.find(tenant_id, { active_key: { $in: groups } }, options);
    const busy = new Set(active.map(({ active_key }) => active_key));
    const { heads, early } = await this.#findHeads(
      tenant_id,
      groups.filter((group) => !busy.has(group)),
    );
    await this.#activate(tenant_id, heads);
    return early;
  }

  get #rows(): TenantCollection<DeliveryDoc> {
    return this.#deps.ready?.rows ?? this.#deps.deliveries;
  }

  /** Finds the first held deliveries of groups. `early`: groups whose first one cannot be released yet. */
  async #findHeads(tenant_id: string, groups: string[]): Promise<{ heads: HeldDoc[]; early: string[] }> {
    if (groups.length === 0) return { heads: [], early: [] };
    const known = this.#horizons.get(tenant_id);
    const rows = await this.#findUpTo(tenant_id, groups, known?.position ?? "");
    if (rows.early.length === 0 || (known && known.until > performance.now())) return rows;
    const { heads, early } = await this.#findUpTo(tenant_id, rows.early, await this.#readHorizon(tenant_id));
    return { heads: [...rows.heads, ...heads], early };
  }

  /** @param horizon read before the groups are: an earlier event that was fanned out by then has its delivery there */
  async #findUpTo(tenant_id: string, groups: string[], horizon: string) {
    if (horizon === "") return { heads: [], early: groups };
    const rows = await (this.#deps.ready
      ? this.#seek(tenant_id, groups)
      : this.#readFirst(tenant_id, groups));
    // The first event that waits is not preceded by another one.
    const isEarly = (row: Held) => positionOf(row) > horizon;
    return { heads: rows.filter((row) => !isEarly(row)), early: rows.filter(isEarly).map(groupOf) };
  }

  /** Finds the first held delivery of each group by a look for each. The embedded store gets them as one message. */
  async #seek(tenant_id: string, groups: readonly string[]): Promise<HeldDoc[]> {
    const options = { sort: { held_key: 1 }, projection: SHORTEST } as const;
    const seeks = groups.map((group) => this.#rows.findOne(tenant_id, rangeOf(group), options));
    return (await Promise.all(seeks)).filter((row) => row !== null) as HeldDoc[];
  }

  /** The same in few round trips, as far as groups are short: some deliveries of many, in the order of their keys. */
  async #readFirst(tenant_id: string, groups: readonly string[]): Promise<HeldDoc[]> {
    if (groups.length <= 1) return this.#seek(tenant_id, groups);
    const limit = groups.length * READ_EACH;
    const options = { sort: { held_key: 1 }, projection: SHORTEST, limit } as const;
    const rows = (await this.#rows.find(tenant_id, { $or: groups.map(rangeOf) }, options)) as HeldDoc[];
    const firsts = rows.filter((row, i) => i === 0 || groupOf(row) !== groupOf(rows[i - 1] as HeldDoc));
    if (rows.length < limit) return firsts;
    const { held_key } = rows.at(-1) as HeldDoc;
    const rest = groups.filter((group) => `${group} ` > held_key);
    // Long ones would fill further reads, too.
    const isLong = firsts.length * 2 < groups.length;
    return [...firsts, ...(await (isLong ? this.#seek(tenant_id, rest) : this.#readFirst(tenant_id, rest)))];
  }

  /** Makes deliveries ready, unless others of their groups are active; returns the groups that have an active one now. */
  async #activate(tenant_id: string, heads: HeldDoc[]): Promise<Set<string>> {
    if (heads.length === 0) return new Set();
    const { ready, notifyReady } = this.#deps;
    const writes = heads.map(({ _id, agent_id, held_key }) => {
      const $set = { state: "ready" as const, active_key: groupOf({ held_key }) };
      const filter = { _id, tenant_id, agent_id, held_key };
      return { updateOne: { filter, update: { $set, $unset: { held_key: 1 } as const } } };
    });
    const { changed, refused } = await changedBy(this.#rows.bulk(writes));
    const agents = new Set(heads.map(({ agent_id }) => agent_id as string));
    const isKnown = changed + refused.size === heads.length;
    const released = isKnown ? heads.filter((_, i) => !refused.has(i)) : [];
    if (isKnown) ready?.add(released.map(toReady));
    else for (const agent_id of agents) ready?.changed(tenant_id, { agent_id });
    if (changed > 0) notifyReady([...agents].map((agent_id) => ({ tenant_id, agent_id })));
    return new Set(isKnown ? heads.map(groupOf) : []);
  }

  /** Returns the position up to which no event of the tenant waits for its fan-out. */
  async #readHorizon(tenant_id: string): Promise<string> {
    const began = performance.now();
    const position = await this.#deps.broker.call<string, unknown>("events.fan_out_horizon", { tenant_id });
    const ended = performance.now();
    if (!this.#horizons.has(tenant_id)) setTimeout(() => this.#horizons.delete(tenant_id), KEPT_MS).unref();
    this.#horizons.set(tenant_id, { position, until: ended + (ended - began) * REST_FACTOR });
    return position;
  }
}

const rangeOf = (group: string) => ({ held_key: { $gt: `${group} `, $lt: `${group} ~` } });

/** Returns the `held_key` of a delivery. @param ordering digest of the key's value */
export function heldKey(agent_id: string, ordering: string, event_id: string): string {
  return `${agent_id} ${ordering} ${event_id.slice("evt_".length)}`;
}

export function groupOf({ held_key }: Held): string {
  return held_key.slice(0, held_key.lastIndexOf(" "));
}

function toReady({ held_key, ...rest }: HeldDoc): DeliveryDoc {
  return { ...rest, state: "ready", active_key: groupOf({ held_key }) };
}

/** Returns how many rows a bulk of updates has changed, and which updates were refused for a taken key. */
async function changedBy(bulk: Promise<{ modifiedCount: number }>) {
  try {
    return { changed: (await bulk).modifiedCount, refused: new Set<number>() };
  } catch (err) {
    const refused = new Set(takenRows(err).map(({ index }) => index));
    return { changed: (err as MongoBulkWriteError).result.modifiedCount, refused };
  }
}

function positionOf({ held_key }: Held): string {
  return held_key.slice(held_key.lastIndexOf(" ") + 1);
}

export const HELD = { state: "waiting", held_key: { $exists: true } } as const;
