import { type Caller, callerId, isAdmin } from "../../../lib/access/caller.ts";
import { isPlatformType } from "../../../lib/cloudevents/platform-types.ts";
import { forbidden, requireFound } from "../../../lib/contract/faults.ts";
import { containing } from "../../../lib/text/containing.ts";
import { fromFieldName, toFieldName } from "../../../lib/text/field-name.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { inTurns } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { CallOf } from "../../runtime.ts";
import type { Listener, ListenersParams } from "../interests/receiver.ts";
import type * as contract from "./event-types.contract.ts";
import { MAX_EVENT_TYPES, MAX_SOURCES, UNSEEN_DAYS } from "./event-types.contract.ts";
import { type EventTypeDoc, EventTypeModel, eventTypeId } from "./event-types.model.ts";
import type { EventDeps, EventDoc } from "./events.model.ts";
import { positionFrom } from "./position.ts";
import { present } from "./present.ts";
import { maySee } from "./visibility.ts";

/** Types of a tenant that a node notes between two flushes, and those of one write. */
const MAX_NOTED = 200;
const BATCH = 50;
/** All rows of a batch, with the longest sources. */
const BATCH_BYTES = 4 * 1_048_576;

/** Events of a type on this node since the last flush. */
interface Seen {
  count: number;
  first: number;
  last: number;
  /** When each source published it last, in ms. */
  sources: Map<string, number>;
}

/** The types of each tenant's events, counted in memory and then added to a row a type: a killed node loses its last ones. */
export class EventTypes {
  readonly #deps: EventDeps;
  readonly #rows: TenantCollection<EventTypeDoc>;
  /** By tenant and type. */
  #noted = new Map<string, Map<string, Seen>>();
  #flushing: Promise<void> = Promise.resolve();

  constructor(deps: EventDeps) {
    this.#deps = deps;
    this.#rows = deps.store.collection(EventTypeModel);
  }

  /** Counts an accepted event, unless it is the service's own. */
  note({ tenant_id, type, source, accepted_at }: EventDoc): void {
    if (isPlatformType(type)) return;
    const at = accepted_at.getTime();
    const types = this.#noted.get(tenant_id) ?? new Map<string, Seen>();
    const seen = types.get(type) ?? { count: 0, first: at, last: at, sources: new Map() };
    if (types.size >= MAX_NOTED && seen.count === 0) return;
    this.#noted.set(tenant_id, types.set(type, seen));
    seen.count++;
    seen.last = Math.max(seen.last, at);
    if (seen.sources.has(source) || seen.sources.size < MAX_SOURCES) seen.sources.set(source, at);
  }

  /** Adds what was noted to the rows. If that fails, it is lost: adding it again could count twice. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#write());
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const noted = this.#noted;
    this.#noted = new Map();
    const tenants = [...noted].map(([tenant_id, types]) => ({ tenant_id, left: [...types] }));
    await inTurns("event_types", tenants, async ({ tenant_id, left }) => {
      await this.#add(tenant_id, left.splice(0, BATCH));
      return left.length > 0;
    });
  }

  async #add(tenant_id: string, batch: [string, Seen][]): Promise<void> {
    const ids = batch.map(([type]) => eventTypeId(tenant_id, type));
    const rows = await this.#rows.findEach(tenant_id, ids, { bytes: BATCH_BYTES });
    const known = new Map(rows.map((row) => [row.type, row]));
    let free = await this.#makeRoom(tenant_id, batch.length - known.size);
    const kept = batch.filter(([type]) => known.has(type) || free-- > 0);
    await this.#rows.upsert(
      kept.map(([type, seen]) => ({
        filter: { _id: eventTypeId(tenant_id, type), tenant_id },
        update: {
          $setOnInsert: { type, first_seen_at: new Date(seen.first) },
          $inc: { count: seen.count },
          $max: { last_seen_at: new Date(seen.last), ...newestOf(seen, known.get(type)) },
        },
      })),
    );
  }

  /** Returns how many of some new types may be added, after removing types that were not seen for long. */
  async #makeRoom(tenant_id: string, wanted: number): Promise<number> {
    if (wanted === 0) return 0;
    const free = Math.max(0, MAX_EVENT_TYPES - (await this.#rows.count(tenant_id, {})));
    if (free >= wanted) return wanted;
    const last_seen_at = { $lt: new Date(this.#deps.store.now() - UNSEEN_DAYS * DAY_MS) };
    const options = { sort: { last_seen_at: 1 }, limit: wanted - free, projection: { _id: 1 } } as const;
    const old = await this.#rows.find(tenant_id, { last_seen_at }, options);
    if (old.length > 0) await this.#rows.deleteMany(tenant_id, { _id: { $in: old.map(({ _id }) => _id) } });
    return free + old.length;
  }

  async list({ params, meta }: CallOf<typeof contract.listEventTypes>) {
    requireMayRead(meta.caller);
    // Those of another tenant may fail.
    await this.flush().catch(() => {});
    const { tenant_id } = meta.caller;
    const { search, cursor, limit = 50 } = params;
    const filter = search ? { type: containing(search) } : {};
    const order = { by: "last_seen_at", cursor, limit } as const;
    const { page, next_cursor } = await this.#rows.pageAfter(tenant_id, filter, order);
    const types = page.map(({ type }) => type);
    const counts = await this.#deps.broker.call<number[], { tenant_id: string; types: string[] }>(
      "interests.count_listeners",
      { tenant_id, types },
    );
    return { types: page.map((row, i) => presentType(row, counts[i] as number)), next: next_cursor };
  }

  async get({ params: { type }, meta: { caller } }: CallOf<typeof contract.getEventType>) {
    requireMayRead(caller);
    await this.flush();
    const { tenant_id } = caller;
    const known = await this.#rows.findOne(tenant_id, { _id: eventTypeId(tenant_id, type) });
    const row = requireFound(known, "event_type", type);
    const { broker } = this.#deps;
    const [listeners, last] = await Promise.all([
      broker.call<Listener[], ListenersParams>("interests.listeners", { tenant_id, type }),
      this.#findLast(row),
    ]);
    const isShown = ({ agent_id }: Listener) => isAdmin(caller) || agent_id === callerId(caller);
    const last_event = last && (await maySee(broker, caller, last)) ? present(last) : null;
    return { ...presentType(row, listeners.length), listening: listeners.filter(isShown), last_event };
  }

  /** Returns the latest event; null if it has been deleted. Its time makes the search short. */
  async #findLast({ tenant_id, type, last_seen_at }: EventTypeDoc): Promise<EventDoc | null> {
    const at = last_seen_at.getTime();
    const position = { $gte: positionFrom(at), $lt: positionFrom(at + 1) };
    return this.#deps.events.findOne(tenant_id, { position, type }, { sort: { position: -1 } });
  }
}

/** The gateway has checked the scope. @throws Fault forbidden for people who are no admins */
function requireMayRead(caller: Caller): void {
  if (caller.kind === "agent" || isAdmin(caller)) return;
  throw forbidden("Only admins can read the types of all events. Ask one of them.");
}

/** Returns an update of the times of those sources that the row has, or has room for. */
function newestOf({ sources }: Seen, row: EventTypeDoc | undefined): Record<`sources.${string}`, number> {
  const names = new Set(Object.keys(row?.sources ?? {}));
  const changes: Record<`sources.${string}`, number> = {};
  for (const [source, at] of sources) {
    const name = toFieldName(source);
    if (!names.has(name) && names.size >= MAX_SOURCES) continue;
    names.add(name);
    changes[`sources.${name}`] = at;
  }
  return changes;
}

function presentType(row: EventTypeDoc, listeners: number) {
  const { type, sources, first_seen_at, last_seen_at, count } = row;
  return {
    type,
    sources: Object.entries(sources)
      .sort(([, a], [, b]) => b - a)
      .map(([name, at]) => ({ source: fromFieldName(name), last_seen_at: new Date(at) })),
    ...{ first_seen_at, last_seen_at, count, listeners },
  };
}
