import type { ServiceBroker } from "moleculer";
import { pastGroup } from "../../../mixins/queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { type DeliveryDoc, SHORTEST } from "./deliveries.model.ts";
import type { Ready } from "./notify.ts";
import type { ReadyDeliveries } from "./ready.ts";

/** Set on a delivery until it is the one of its group that may be delivered. */
interface Held {
  held_key: string;
}

interface OrderingDeps {
  broker: Pick<ServiceBroker, "call" | "logger">;
  deliveries: TenantCollection<DeliveryDoc>;
  /** Null on a store with several nodes. */
  ready: ReadyDeliveries | null;
  notifyReady: (ready: Ready[]) => void;
}

/** Delay before groups are looked at again that wait for the fan-out of earlier events. */
const PAUSE_MS = 25;
const RETRY_MS = 1000;
/** How long the horizon of a tenant is kept. */
const KEPT_MS = 60_000;
/** Groups per round. */
const BATCH = 200;
/** A horizon is used for this multiple of the time that reading it took. */
const REST_FACTOR = 10;
/** Groups that one run of the sweep visits: one index seek for each. */
const SWEPT = 200;

/**
 * Deliveries in order of their key: those of an agent with one value of the key are a group (`<agent> <digest>`), and
 * the group's deliveries are delivered one after the other, in the order in which their events were accepted.
 *
 * A delivery with a key is written as `waiting`, with a `held_key` (`<group> <position of its event>`) and no `due_at`:
 * claims and sweeps do not see it, however many there are. The group's first one is released: it becomes `ready`, and its
 * `held_key` an `active_key` (`<group>`), which it keeps until it is acknowledged, dead or discarded. `active_key` is
 * unique: two nodes cannot release two deliveries of one group. None is released while an earlier event may still be
 * fanned out. What settles a delivery asks for the next; the sweep finds groups for which a crash lost that.
 */
export class Ordering {
  readonly #deps: OrderingDeps;
  /** Groups to look at, by tenant. */
  readonly #asked = new Map<string, Set<string>>();
  readonly #horizons = new Map<string, { position: string; until: number }>();
  /** Where the sweep continues. */
  #after = "";
  #isStopped = false;

  constructor(deps: OrderingDeps) {
    this.#deps = deps;
  }

  /** Releases the first delivery of each group, unless another one of the group is active. */
  release(tenant_id: string, groups: Iterable<string | undefined>): void {
    const asked = this.#asked.get(tenant_id);
    const set = asked ?? new Set<string>();
    for (const group of groups) if (group !== undefined) set.add(group);
    if (asked || set.size === 0) return;
    this.#asked.set(tenant_id, set);
    void this.#run(tenant_id, set);
  }

  /** Asks for groups with held deliveries, some at each run: a crash, or a deletion, may have left them without an active one. */
  async sweep(): Promise<boolean> {
    const options = { sort: { held_key: 1 }, projection: { tenant_id: 1, held_key: 1 } } as const;
    for (let visited = 0; visited < SWEPT; visited++) {
      const filter = { held_key: { $gt: this.#after } };
      const row = (await this.#deps.deliveries.system.findOne(filter, options)) as DeliveryDoc | null;
      this.#after = row ? pastGroup(`${groupOf(row as Held)} ~`, (row as Held).held_key) : "";
      if (!row) return false;
      this.release(row.tenant_id, [groupOf(row as Held)]);
    }
    return false;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #run(tenant_id: string, asked: Set<string>): Promise<void> {
    while (asked.size > 0 && !this.#isStopped) {
      const batch = [...asked].slice(0, BATCH);
      for (const group of batch) asked.delete(group);
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
    const known = this.#horizons.get(tenant_id);
    const early = await this.#releaseUpTo(tenant_id, groups, known?.position ?? "");
    if (early.length === 0 || (known && known.until > performance.now())) return early;
    return this.#releaseUpTo(tenant_id, early, await this.#readHorizon(tenant_id));
  }

  /** @param horizon read before the groups are: an earlier event that was fanned out by then has its delivery there */
  async #releaseUpTo(tenant_id: string, groups: string[], horizon: string): Promise<string[]> {
    if (horizon === "") return groups;
    const { deliveries, ready, notifyReady } = this.#deps;
    const rows = ready?.rows ?? deliveries;
    const options = { sort: { held_key: 1 }, projection: SHORTEST } as const;
    const first = (group: string) => {
      const held_key = { $gt: `${group} `, $lt: `${group} ~` };
      return rows.findOne(tenant_id, { held_key }, options);
    };
    const heads = (await Promise.all(groups.map(first))).filter((row) => row !== null);
    // The first event that waits is not preceded by another one.
    const isEarly = (row: DeliveryDoc) => positionOf(row as Held) > horizon;
    const activated = await Promise.all(
      heads.filter((row) => !isEarly(row)).map((row) => this.#activate(rows, row)),
    );
    const released = activated.filter((row) => row !== null);
    ready?.add(released);
    const agents = new Set(released.map(({ agent_id }) => agent_id as string));
    notifyReady([...agents].map((agent_id) => ({ tenant_id, agent_id })));
    return heads.filter(isEarly).map((row) => groupOf(row as Held));
  }

  /** Returns the delivery as it is ready, or null if it was not released. */
  async #activate(rows: TenantCollection<DeliveryDoc>, row: DeliveryDoc): Promise<DeliveryDoc | null> {
    const { held_key, ...rest } = row as DeliveryDoc & Held;
    const { _id, tenant_id, agent_id } = row;
    const $set = { state: "ready" as const, active_key: groupOf({ held_key }) };
    const update = { $set, $unset: { held_key: 1 } as const };
    try {
      const written = await rows.updateMany(tenant_id, { _id, agent_id, held_key }, update);
      return written ? { ...rest, ...$set } : null;
    } catch (err) {
      // Another one of the group is active: what settles it asks again.
      if (isDuplicateKey(err)) return null;
      throw err;
    }
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

/** Returns the `held_key` of a delivery. @param ordering digest of the key's value */
export function heldKey(agent_id: string, ordering: string, event_id: string): string {
  return `${agent_id} ${ordering} ${event_id.slice("evt_".length)}`;
}

export function groupOf({ held_key }: Held): string {
  return held_key.slice(0, held_key.lastIndexOf(" "));
}

function positionOf({ held_key }: Held): string {
  return held_key.slice(held_key.lastIndexOf(" ") + 1);
}

/** Filters held deliveries. */
export const HELD = { state: "waiting", held_key: { $exists: true } } as const;
