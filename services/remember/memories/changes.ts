import type { ServiceBroker } from "moleculer";
import { pagesBySize } from "../../../lib/broker/message-size.ts";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { newUuid } from "../../../lib/ids.ts";
import { Loop, tenantsInTurn } from "../../../mixins/loop.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Update } from "../../../storage/query.ts";
import type { SearchPut } from "../../../storage/search/entry.ts";
import type { Announcement, MemoryChange, MemoryDoc } from "./memories.model.ts";
import { toEntry } from "./rows.ts";

/** Returns the update of a change, to be merged with the fields it sets: raises the version and queues the event. */
export function changeOf(what: MemoryChange, at: Date, $set: Partial<MemoryDoc> = {}): Update<MemoryDoc> {
  const announcement: Announcement = { id: newUuid(), what, at };
  return {
    $set: { ...$set, updated_at: at, changed_at: at, announce_at: at },
    $inc: { version: 1 },
    $push: { announce: announcement },
  };
}

/** Keeps calls between nodes well below the NATS payload limit. */
const PUT_CHARACTERS = 400_000;
/** Short, because search must not delay writes: it catches up later if it does not answer. */
const PUT_TIMEOUT_MS = 2_000;
const BATCH = 200;
const RELAY_MS = 1000;

/** A request's context, or the broker outside of requests. */
export type Caller = Pick<ServiceBroker, "call" | "broadcast">;

/** Applies what follows from a written change of memories: updates search and publishes events. */
export class Changes {
  readonly #memories: TenantCollection<MemoryDoc>;
  readonly #broker: () => ServiceBroker;
  readonly #relay: Loop;

  /** @param broker called on use: services are created before the broker is ready */
  constructor(memories: TenantCollection<MemoryDoc>, broker: () => ServiceBroker) {
    this.#memories = memories;
    this.#broker = broker;
    const report = (err: unknown) => broker().logger.warn("memories: events wait to be published", err);
    this.#relay = new Loop(() => this.#announce(), RELAY_MS, report);
  }

  start(): void {
    this.#relay.start();
  }

  stop(): Promise<void> {
    return this.#relay.stop();
  }

  /** Resolves when search has indexed these rows, which all belong to one tenant. */
  async after(ctx: Caller, docs: MemoryDoc[]): Promise<void> {
    if (docs.length === 0) return;
    this.#relay.nudge();
    if (docs.some((doc) => doc.finding_due_at)) {
      await ctx.broadcast("findings.due", { tenant_id: (docs[0] as MemoryDoc).tenant_id });
    }
    await Promise.all(
      [...pagesBySize(docs, charactersOf, PUT_CHARACTERS)].map((page) => this.#put(ctx, page)),
    );
  }

  async #put(ctx: Caller, docs: MemoryDoc[]): Promise<void> {
    const put: SearchPut = { tenant_id: (docs[0] as MemoryDoc).tenant_id, entries: docs.map(toEntry) };
    try {
      await ctx.call("search.put", put, { timeout: PUT_TIMEOUT_MS });
    } catch (err) {
      this.#broker().logger.warn("memories: search will learn of a change later", err);
    }
  }

  /** Records that a memory's successor supersedes it (spec: States, Memory); the relay repeats this at the latest. */
  async recordSuperseding(ctx: Caller, doc: MemoryDoc): Promise<void> {
    await record(ctx, doc).catch((err) => {
      this.#broker().logger.warn("memories: a replacement will be noted as a relationship later", err);
    });
  }

  /** Publishes outboxes. An event's id is the announcement's, so a repetition adds nothing. */
  async #announce(): Promise<boolean> {
    const options = { sort: { announce_at: 1 }, limit: BATCH, projection: BRIEF } as const;
    const find = (others: object) =>
      this.#memories.system.find({ announce_at: { $gt: new Date(0) }, ...others }, options).toArray();
    return tenantsInTurn<MemoryDoc>(find, BATCH, (tenant_id, those) => this.#announceOf(tenant_id, those));
  }

  async #announceOf(tenant_id: string, rows: MemoryDoc[]): Promise<void> {
    // Repeated here in case the process that replaced it was interrupted.
    const replaced = rows.filter((row) => row.superseded_by && row.announce?.some(isSuperseded));
    await Promise.all(replaced.map((row) => record(this.#broker(), row)));
    await this.#broker().call("events.emit_taken", { tenant_id, emissions: rows.flatMap(emissionsOf) });
    const done = rows.map(({ _id, version }) => ({
      updateOne: {
        // A row that changed meanwhile has more to publish: all of it is published again.
        filter: { _id, tenant_id, version },
        update: { $unset: { announce: 1, announce_at: 1 } },
      },
    }));
    await this.#memories.bulk(done);
  }
}

const isSuperseded = ({ what }: Announcement) => what === "superseded";

async function record(ctx: Caller, { tenant_id, _id, superseded_by }: MemoryDoc): Promise<void> {
  const edge = { source_memory_id: superseded_by, target_memory_id: _id, relationship_type: "SUPERSEDES" };
  await ctx.call("relationships.record_provenance", { tenant_id, edges: [edge] });
}

/** Returns the events in a row's outbox. */
function emissionsOf(row: MemoryDoc) {
  const { _id, scope, agent_id, team_id, type, status, superseded_by } = row;
  const state = { memory_id: _id, type, scope, team_id, agent_id, status, superseded_by };
  return (row.announce ?? []).map(({ id, what, at }) => ({
    type: `service.memory.${what}` satisfies PlatformEventType,
    subject: _id,
    data: { ...state, at: at.toISOString() },
    dedupe: `memory ${_id} ${id}`,
    audience: { scope, agent_id, team_id },
  }));
}

const BRIEF = {
  tenant_id: 1,
  scope: 1,
  agent_id: 1,
  team_id: 1,
  type: 1,
  status: 1,
  superseded_by: 1,
  version: 1,
  announce: 1,
  announce_at: 1,
} as const;

const charactersOf = ({ content, title }: MemoryDoc) => content.length + title.length + 1000;
