import type { ServiceBroker } from "moleculer";
import type { Caller, RequestContext } from "../../../lib/access/caller.ts";
import { type Access, isOrgAdmin, mayRead } from "../../../lib/access/visibility.ts";
import { pagesBySize } from "../../../lib/broker/between-nodes.ts";
import { conflict, type Fault, forbidden, notFound } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { Store } from "../../../storage/connection.ts";
import type { Update } from "../../../storage/query.ts";
import type { HeldAt, SearchMissed, SearchPut } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import type { Runtime } from "../../runtime.ts";
import {
  CiteModel,
  type MemoryChange,
  type MemoryDoc,
  MemoryKeyModel,
  MemoryModel,
  present,
  toEntry,
} from "./memories.model.ts";
import { type AsOf, heldAsKnown, heldAt } from "./validity.ts";

/** Keeps calls between nodes well below the NATS payload limit. */
const PUT_CHARACTERS = 400_000;
/** Short, because search must not delay writes: it catches up later if it does not answer. */
const PUT_TIMEOUT_MS = 2_000;
/** Memories whose times were corrected after the time of a question about what was known. */
const MOST_CORRECTED = 1000;
/** The fields that decide who may read a memory. */
const READERS = { scope: 1, agent_id: 1, user_id: 1, team_id: 1, status: 1, expires_at: 1 } as const;

/** Calls other services: a request's context, or the broker outside of requests. */
export type Calls = Pick<ServiceBroker, "call" | "broadcast">;

/** A memory and the reader's access. */
export interface Accessed {
  doc: MemoryDoc;
  access: Access;
}

type Log = Pick<Runtime["log"], "warn">;

/** The rows of memories, read and shown by the caller's access, and what follows from a change of them. */
export class Memories {
  readonly rows;
  readonly cites;
  readonly keys;
  readonly now: () => Date;
  /** How long a forgotten memory can be restored, in milliseconds. */
  readonly windowMs: number;
  readonly log: Log;
  readonly #announce: () => void;

  /** @param announce wakes the loop that publishes changes */
  constructor(
    store: Pick<Store, "collection" | "now">,
    reversibilityDays: number,
    log: Log,
    announce: () => void,
  ) {
    this.rows = store.collection(MemoryModel);
    this.cites = store.collection(CiteModel);
    this.keys = store.collection(MemoryKeyModel);
    this.now = () => new Date(store.now());
    this.windowMs = reversibilityDays * DAY_MS;
    this.log = log;
    this.#announce = announce;
  }

  /** Returns a memory by id. @throws Fault not_found if the caller may not read one. */
  async findReadable(ctx: RequestContext, id: string, access = callerAccess(ctx)): Promise<Accessed> {
    const { caller } = ctx.meta;
    const [known, doc] = await Promise.all([access, this.rows.findOne(caller.tenant_id, { _id: id })]);
    if (!doc || !this.mayReadById(caller, known, doc)) throw notFound("memory", id);
    return { doc, access: known };
  }

  /** Returns a memory that the caller may change. @throws Fault not_found, forbidden. */
  async findManaged(ctx: RequestContext, id: string): Promise<MemoryDoc> {
    const { doc, access } = await this.findReadable(ctx, id);
    if (mayManage(ctx.meta.caller, access, doc)) return doc;
    throw forbidden("Only its owner and org admins can change or forget a memory. Ask one of them.");
  }

  /**
   * Whether a caller may read it by id: anyone with access if in force or superseded, otherwise only those who may
   * manage it.
   */
  mayReadById(caller: Caller, access: Access, doc: MemoryDoc): boolean {
    if (doc.status === "pending") return false;
    const withdrawn = doc.status === "forgotten" || this.isExpired(doc);
    return withdrawn ? mayManage(caller, access, doc) : mayRead(access, doc);
  }

  isExpired({ expires_at }: Pick<MemoryDoc, "expires_at">, now = this.now()): boolean {
    return expires_at !== null && expires_at <= now;
  }

  /** Returns the times of a question about the past; undefined for one about the present. */
  async heldAt(tenant_id: string, asOf: AsOf): Promise<HeldAt | undefined> {
    const time = heldAt(asOf, this.now());
    if (!time || asOf.known_at === undefined) return time;
    const since = { corrected_at: { $gt: new Date(time.known) } };
    const options = { limit: MOST_CORRECTED, projection: { content: 0, metadata: 0, citations: 0 } } as const;
    const { rows } = await this.rows.findWithin(tenant_id, since, options);
    const { held = [], not = [] } = Object.groupBy(rows, (row) => (heldAsKnown(row, time) ? "held" : "not"));
    const idsOf = (some: { _id: string }[]) => some.map(({ _id }) => _id);
    return { ...time, corrected: { held: idsOf(held), not: idsOf(not) } };
  }

  /** Formats memories for the caller, without the ids of unreadable predecessors and successors. */
  async presentAll(ctx: RequestContext, docs: MemoryDoc[], known?: Access) {
    const linked = docs.flatMap(({ superseded_by, supersedes_id }) => [superseded_by, supersedes_id]);
    const ids = [...new Set(linked)].filter((id) => id !== null);
    if (ids.length === 0) return docs.map(present);
    const { caller } = ctx.meta;
    const [access, rows] = await Promise.all([
      known ?? callerAccess(ctx),
      this.rows.find(caller.tenant_id, { _id: { $in: ids } }, { projection: READERS }),
    ]);
    const readable = rows.filter((row) => this.mayReadById(caller, access, row));
    const shown = new Set(readable.map(({ _id }) => _id));
    const shownId = (id: string | null) => (id !== null && shown.has(id) ? id : null);
    return docs.map((doc) => ({
      ...present(doc),
      supersedes_id: shownId(doc.supersedes_id),
      superseded_by: shownId(doc.superseded_by),
    }));
  }

  /** Formats one memory for the caller. */
  async presentOne(ctx: RequestContext, doc: MemoryDoc) {
    const [shown] = await this.presentAll(ctx, [doc]);
    return shown as ReturnType<typeof present>;
  }

  /** Applies what follows from a written change. Resolves when search has indexed the rows, all of one tenant. */
  async afterChange(ctx: Calls, docs: MemoryDoc[]): Promise<void> {
    const [first] = docs;
    if (!first) return;
    const { tenant_id } = first;
    this.#announce();
    if (docs.some((doc) => doc.finding_due_at)) await ctx.broadcast("findings.due", { tenant_id });
    const pages = [
      ...pagesBySize(docs, ({ content, title }) => content.length + title.length + 1000, PUT_CHARACTERS),
    ];
    await Promise.all(
      pages.map(async (page) => {
        const put: SearchPut = { tenant_id, entries: page.map(toEntry) };
        await ctx.call("search.put", put, { timeout: PUT_TIMEOUT_MS }).catch(async (err) => {
          this.log.warn({ err }, "memories: the search index is updated later");
          await ctx.broadcast("search.missed", { tenant_id, kind: "memory" } satisfies SearchMissed);
        });
      }),
    );
  }
}

/**
 * Whether the caller may change it: the agent that owns it, the person who wrote it or owns that agent, or an org admin
 * who may read it (api: Memories).
 */
export function mayManage(caller: Caller, access: Access, doc: MemoryDoc): boolean {
  if (!mayRead(access, doc)) return false;
  if (caller.kind === "agent") return doc.agent_id === caller.agent_id;
  if (isOrgAdmin(caller) || doc.user_id === caller.user_id) return true;
  return doc.agent_id !== null && access.agent_ids.includes(doc.agent_id);
}

/** Returns the update of a change, to be merged with the fields it sets: raises the version and queues the event. */
export function makeChange(what: MemoryChange, at: Date, $set: Partial<MemoryDoc> = {}): Update<MemoryDoc> {
  return {
    $set: { ...$set, updated_at: at, changed_at: at, announce_at: at },
    $inc: { version: 1 },
    $push: { announce: { id: newUuid(), what, at } },
  };
}

/** The fault for operations that require an active memory. */
export function notActive({ _id, status }: MemoryDoc): Fault {
  return conflict(`The memory ${_id} is ${status}; only active memories can be changed.`, {
    existing_resource_id: _id,
    status,
  });
}
