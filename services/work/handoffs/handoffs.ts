import type { AgentCaller, RequestContext } from "../../../lib/access/caller.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import { conflict, type Fault, requireFound, unknownReference } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { Due } from "../../../mixins/due.ts";
import type { Store } from "../../../storage/connection.ts";
import type { SearchDrop, SearchMissed, SearchPut } from "../../../storage/search/entry.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import type { EraseContent, SettleErased } from "../../erasers.ts";
import { deletedMemories, readableMemories } from "../../remember/memories/readable.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { saveHandoff } from "./handoffs.contract.ts";
import { type HandoffDoc, HandoffModel, present, toEntry } from "./handoffs.model.ts";

/** api: Handoffs. */
const TTL_MS = 30 * DAY_MS;
/** Short, because search must not delay writes: it catches up later if it does not answer. */
const PUT_TIMEOUT_MS = 2_000;
const ERASED_AT_ONCE = 200;
const REAPED_AT_ONCE = 100;

/** Calls other services: a context, or the broker in loops. */
type Calls = Pick<RequestContext, "call" | "broadcast">;

type Log = Pick<Runtime["log"], "warn">;

/** The rows of handoffs, kept in step with search. Agents see only theirs. */
export class Handoffs {
  readonly rows;
  readonly now: () => Date;
  readonly #log: Log;
  readonly #ended: Due<HandoffDoc>;

  constructor(store: Pick<Store, "collection" | "now">, log: Log) {
    this.rows = store.collection(HandoffModel);
    this.now = () => new Date(store.now());
    this.#log = log;
    const asking = { by: "reap_at", batch: REAPED_AT_ONCE, projection: { reap_at: 1 } } as const;
    this.#ended = new Due({ rows: this.rows, now: () => store.now(), ...asking });
  }

  /** Returns a handoff of the calling agent, or null. */
  find(ctx: RequestContext, wanted: { _id: string } | { name: string }): Promise<HandoffDoc | null> {
    const { tenant_id, agent_id } = agentOf(ctx);
    return this.rows.findOne(tenant_id, { agent_id, ...wanted, ...this.standing() });
  }

  /** Returns a handoff of the calling agent. @throws Fault not_found */
  async require(ctx: RequestContext, _id: string): Promise<HandoffDoc> {
    return requireFound(await this.find(ctx, { _id }), "handoff", _id);
  }

  /** Matches unexpired handoffs: expired ones are gone, whether removed yet or not. */
  standing() {
    return { $or: [{ reap_at: null }, { reap_at: { $gt: this.now() } }] };
  }

  /** Pins or unpins; does nothing if it already is in that state. @throws Fault not_found, conflict */
  setPinned(ctx: RequestContext, id: string, pinned: boolean): Promise<HandoffDoc> {
    return guardedWrite(async () => {
      const doc = await this.require(ctx, id);
      const { _id, pinned_at, expires_at } = doc;
      if ((pinned_at !== null) === pinned) return doc;
      const at = this.now();
      const next = pinned ? { pinned_at: at, reap_at: null } : { pinned_at: null, ...fullTerm(at, null) };
      return this.change(ctx, { _id, pinned_at, expires_at }, next);
    }, "The handoff is being changed concurrently. Retry.");
  }

  /** Changes a handoff of the calling agent, and updates search. Returns null if `guard` does not match. */
  async change(ctx: RequestContext, guard: object, changes: Partial<HandoffDoc>): Promise<HandoffDoc | null> {
    const { tenant_id, agent_id } = agentOf(ctx);
    const update = { $set: { ...changes, changed_at: this.now() }, $inc: { version: 1 } };
    const doc = await this.rows.update(tenant_id, { agent_id, ...guard }, update);
    if (doc) await this.updateSearch(ctx, doc);
    return doc;
  }

  async updateSearch(ctx: Calls, doc: HandoffDoc): Promise<void> {
    const put: SearchPut = { tenant_id: doc.tenant_id, entries: [toEntry(doc)] };
    await ctx.call("search.put", put, { timeout: PUT_TIMEOUT_MS }).catch(async (err) => {
      this.#log.warn({ err, handoff_id: doc._id }, "handoffs: the search index is updated later");
      const missed: SearchMissed = { tenant_id: doc.tenant_id, kind: "handoff" };
      await ctx.broadcast("search.missed", missed);
    });
  }

  /**
   * Removes a handoff, if `guard` still matches, and its search entries; returns whether it did. Search comes first, so
   * that an interrupted removal is found again by its row, and is repeated for concurrent writes.
   */
  async remove(
    ctx: Calls,
    { tenant_id, _id }: Pick<HandoffDoc, "tenant_id" | "_id">,
    guard: object = {},
  ): Promise<boolean> {
    const drop: SearchDrop = { tenant_id, kind: "handoff", ids: [_id] };
    await ctx.call("search.drop", drop);
    if (await this.rows.delete(tenant_id, { _id, ...guard })) {
      await ctx.call("search.drop", drop);
      return true;
    }
    const kept = await this.rows.findOne(tenant_id, { _id });
    if (kept) await this.updateSearch(ctx, kept);
    return false;
  }

  /** Erases, or counts, all handoffs of an agent. */
  async eraseOf(ctx: Calls & { params: EraseContent }): Promise<{ handoffs: number }> {
    const { tenant_id, agent_id, dry_run } = ctx.params;
    if (dry_run) return { handoffs: await this.rows.count(tenant_id, { agent_id }) };
    const its = await this.rows.find(tenant_id, { agent_id }, { projection: { _id: 1, tenant_id: 1 } });
    for (const each of its) await this.remove(ctx, each);
    return { handoffs: its.length };
  }

  /** Resolves when search has the handoffs whose texts an erasure has replaced. */
  async settleErased(ctx: Calls & { params: SettleErased }): Promise<void> {
    const { tenant_id, since } = ctx.params;
    const changed = { changed_at: { $gte: new Date(since) } };
    for await (const docs of this.rows.batches(tenant_id, changed))
      await ctx.call("search.put", { tenant_id, entries: docs.map(toEntry) } satisfies SearchPut);
  }

  /** Removes expired handoffs; returns whether there may be more. */
  reap(calls: Calls): Promise<boolean> {
    const over = { reap_at: { $lte: this.now() } };
    // Handoffs that were resumed, saved or pinned meanwhile stay.
    return this.#ended.each((row) => this.remove(calls, row, over));
  }

  /** Removes, or counts, the titles of erased memories in citations; returns the number of handoffs. */
  async eraseTitles(tenant_id: string, ids: readonly string[], dry_run = false): Promise<number> {
    const titled = { citations: { $elemMatch: { memory_id: { $in: ids }, title: { $ne: "" } } } };
    if (dry_run) return this.rows.count(tenant_id, titled);
    let count = 0;
    // Repeats until none is left: a concurrent save is found by the next round.
    for (;;) {
      const options = { limit: ERASED_AT_ONCE, projection: { version: 1, citations: 1 } as const };
      const { rows: docs } = await this.rows.findWithin(tenant_id, titled, options);
      if (docs.length === 0) return count;
      for (const { _id, version, citations } of docs) {
        const left = citations.map((each) => (ids.includes(each.memory_id) ? { ...each, title: "" } : each));
        const $set = { citations: left, changed_at: this.now() };
        if (await this.rows.update(tenant_id, { _id, version }, { $set, $inc: { version: 1 } })) count++;
      }
    }
  }
}

/** Returns a full term from a time on; pinned handoffs are not reaped. */
export function fullTerm(at: Date, pinned_at: Date | null) {
  const expires_at = new Date(at.getTime() + TTL_MS);
  return { expires_at, reap_at: pinned_at ? null : expires_at };
}

/** Returns the caller: the contracts admit only agents. */
export function agentOf({ meta }: Pick<RequestContext, "meta">): AgentCaller {
  return meta.caller as AgentCaller;
}

/** Returns the first rows, limited to one message between nodes. */
export function inOneMessage(docs: HandoffDoc[]): HandoffDoc[] {
  return upToSize(docs, ({ summary, payload, citations, artifacts }) => {
    const listed = citations.length * 300 + artifacts.reduce((sum, { length }) => sum + length, 0);
    return summary.length + payload.length + listed;
  });
}

type SaveCall = CallOf<typeof saveHandoff>;
type Content = Awaited<ReturnType<typeof contentOf>>;

/**
 * Saves a handoff under its name: overwrites the existing one or creates it.
 * @throws Fault conflict if `if_version` is not the current version; validation_error for `bundle_id`
 */
export async function save(handoffs: Handoffs, ctx: SaveCall) {
  const content = await contentOf(ctx);
  const { if_version } = ctx.params;
  const attempt = async () => {
    const known = await named(handoffs, ctx);
    if (known && known.save_seed !== null && known.save_seed === ctx.meta.idempotency_seed) {
      return { doc: known, isNew: known.version_num === 1 };
    }
    if (if_version !== undefined && if_version !== (known?.version_num ?? 0))
      throw notThatVersion(known, if_version);
    const doc = known ? await overwrite(handoffs, ctx, known, content) : await insert(handoffs, ctx, content);
    return doc && { doc: await withoutErased(handoffs, ctx, doc), isNew: !known };
  };
  const refusal = `The handoff "${ctx.params.name}" is being saved concurrently. Retry.`;
  const { doc, isNew } = await guardedWrite(attempt, refusal);
  if (!isNew) ctx.meta.$statusCode = 200;
  return present(doc);
}

/** Removes titles of memories that were erased between reading and writing. */
async function withoutErased(handoffs: Handoffs, ctx: SaveCall, doc: HandoffDoc): Promise<HandoffDoc> {
  const titled = doc.citations.filter(({ title }) => title !== "").map(({ memory_id }) => memory_id);
  const gone = await deletedMemories(ctx, titled);
  if (gone.length === 0) return doc;
  const { tenant_id, _id } = doc;
  await handoffs.eraseTitles(tenant_id, gone);
  return (await handoffs.rows.findOne(tenant_id, { _id })) ?? doc;
}

/** Returns the handoff with the name; none if it has expired, even if the reaper has not removed it yet. */
async function named(handoffs: Handoffs, ctx: SaveCall): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const own = { agent_id, name: ctx.params.name };
  const at = handoffs.now();
  const doc = await handoffs.rows.findOne(tenant_id, own);
  if (!doc?.reap_at || doc.reap_at > at) return doc;
  await handoffs.remove(ctx, doc, { reap_at: { $lte: at } });
  return handoffs.rows.findOne(tenant_id, own);
}

function overwrite(
  handoffs: Handoffs,
  ctx: SaveCall,
  { _id, version_num, pinned_at }: HandoffDoc,
  content: Content,
): Promise<HandoffDoc | null> {
  const at = handoffs.now();
  const guard = { _id, version_num, pinned_at };
  return handoffs.change(ctx, guard, {
    ...content,
    version_num: version_num + 1,
    updated_at: at,
    ...fullTerm(at, pinned_at),
    save_seed: ctx.meta.idempotency_seed ?? null,
  });
}

/** Returns null if another was saved under the name meanwhile. */
async function insert(handoffs: Handoffs, ctx: SaveCall, content: Content): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const at = handoffs.now();
  const save_seed = ctx.meta.idempotency_seed ?? null;
  const row: HandoffDoc = {
    ...{ _id: newUuid(save_seed ?? undefined), tenant_id, agent_id, name: ctx.params.name, ...content },
    ...{ version_num: 1, pinned_at: null, last_resumed_at: null, ...fullTerm(at, null) },
    ...{ created_at: at, updated_at: at, version: 1, changed_at: at, save_seed },
  };
  const saved = await handoffs.rows.insert(row).catch(nullIfTaken);
  if (saved) await handoffs.updateSearch(ctx, saved);
  return saved;
}

async function contentOf(ctx: SaveCall) {
  const { summary = "", payload = {}, citations = [], artifacts = [], origin_client = null } = ctx.params;
  const { bundle_id = null } = ctx.params;
  if (bundle_id !== null && !(await ctx.call("bundles.hold", { id: bundle_id, by: "handoff" }))) {
    throw unknownReference("bundle_id", "bundle", bundle_id);
  }
  const ids = citations.map(({ memory_id }) => memory_id.toLowerCase());
  const memories = await readableMemories(ctx, ids, { brief: true });
  return {
    ...{ summary, payload: JSON.stringify(payload), artifacts, origin_client, bundle_id },
    citations: ids.map((memory_id) => ({ memory_id, title: memories.get(memory_id)?.title ?? "" })),
  };
}

function notThatVersion(known: HandoffDoc | null, wanted: number): Fault {
  const there = known ? `the current version is ${known.version_num}` : "no handoff has this name";
  return conflict(`if_version is ${wanted}, but ${there}. Resume the handoff, then save it again.`, {
    existing_resource_id: known?._id ?? null,
    version_num: known?.version_num ?? 0,
  });
}
