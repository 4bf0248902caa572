import type { ServiceBroker } from "moleculer";
import type { Owned } from "../../../lib/access/visibility.ts";
import { isIn } from "../../../lib/cloudevents/audience.ts";
import { addressId } from "../../../lib/ids.ts";
import { Due } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import type { InterestLimits } from "./interest-limits.ts";
import { type AwaitedEvent, type WaitDoc, WaitModel } from "./interests.model.ts";

const PREFIX = "wait_";

export const waitId = (...parts: string[]): string => PREFIX + addressId(...parts);

/** Whether an id is that of a wait: others are of interests. */
export const isWait = (id: string): boolean => id.startsWith(PREFIX);

export type NewWait = Omit<WaitDoc, "tenant_id" | "event" | "notify_at">;

/** Parameters of a wait's action. It may get it again, and ignores it if the owner no longer waits. */
export interface WaitOver {
  tenant_id: string;
  owner_id: string;
  key: string;
  wait_id: string;
  event: AwaitedEvent;
}

interface WaitsDeps {
  store: Store;
  broker: ServiceBroker;
  limits: InterestLimits;
}

const BATCH = 100;

/**
 * Waits of other domains for one event each: subscriptions without a receiver. Fan-out records the first event that
 * matches before it is done with the event; a loop passes it on until the owner has taken it. So an event is neither
 * lost nor, as owners take it once, counted twice.
 */
export class Waits {
  readonly rows: TenantCollection<WaitDoc>;
  readonly #deps: WaitsDeps;
  readonly #due: Due<WaitDoc>;

  constructor(deps: WaitsDeps) {
    const { store } = deps;
    this.rows = store.collection(WaitModel);
    this.#due = new Due({ rows: this.rows, by: "notify_at", now: store.now, batch: BATCH });
    this.#deps = deps;
  }

  /** Begins waits for every event accepted from then on; repeating changes nothing. @throws Fault business_rule_violation */
  async begin(tenant_id: string, waits: NewWait[]): Promise<void> {
    for (const wait of waits) {
      await this.#deps.limits.requireForTenant(tenant_id);
      await this.#change(tenant_id, wait._id, () => this.rows.insertOnce({ ...wait, tenant_id }));
    }
  }

  /** Ends the waits of an owner up to a version of it, but for those in `keep`. */
  async end(tenant_id: string, owner_id: string, version: number, keep: string[]): Promise<void> {
    const filter = { owner_id, version: { $lte: version }, _id: { $nin: keep } };
    const over = await this.rows.find(tenant_id, filter, { projection: { _id: 1 } });
    for (const { _id } of over) await this.#delete(tenant_id, _id);
  }

  /** Records the event of waits that have none yet, durably. */
  async record(tenant_id: string, events: { event: AwaitedEvent; waits: string[] }[]): Promise<void> {
    const notify_at = new Date(this.#deps.store.now());
    for (const { event, waits } of events) {
      const waiting = { _id: { $in: waits }, event: { $exists: false } };
      await this.rows.updateMany(tenant_id, waiting, { $set: { event, notify_at } });
    }
  }

  /** Passes recorded events on to the owners. @returns whether there may be more */
  notify(): Promise<boolean> {
    return this.#due.each(async ({ _id, tenant_id, action, owner_id, key, event }) => {
      const over = { tenant_id, owner_id, key, wait_id: _id, event: event as AwaitedEvent };
      await this.#deps.broker.call<void, WaitOver>(action, over);
      await this.#delete(tenant_id, _id);
    });
  }

  #delete(tenant_id: string, _id: string): Promise<boolean> {
    return this.#change(tenant_id, _id, () => this.rows.delete(tenant_id, { _id }));
  }

  /** Under the subject of an interest, which nodes of earlier versions know; ids distinguish them. */
  #change<T>(tenant_id: string, id: string, write: () => Promise<T>): Promise<T> {
    return changeRouting(this.#deps.broker, tenant_id, `interest ${id}`, write);
  }
}

/** Returns the readers in an event's audience: active agents in it, and people with such an agent. */
export async function readersIn(
  broker: ServiceBroker,
  tenant_id: string,
  audience: ReadonlySet<string>,
  readers: Iterable<string>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const reader of new Set(readers)) {
    const isPerson = reader.startsWith("usr_");
    const owned = isPerson
      ? await broker.call<Owned[], object>("agents.owned_by", { tenant_id, user_id: reader })
      : [{ id: reader }];
    const agent_ids = owned.map(({ id }) => id);
    const params = { tenant_id, agent_ids };
    const agents = await broker.call<(Owned & { status: string })[], object>("agents.get_many", params);
    if (agents.some((agent) => agent.status === "active" && isIn(audience, agent))) found.add(reader);
  }
  return found;
}
