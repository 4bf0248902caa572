import type { AgentCaller, Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { SearchDrop, SearchPut } from "../../../storage/search/entry.ts";
import type { Runtime } from "../../runtime.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { standing, toEntry } from "./rows.ts";

/** Dependencies of the service's actions. */
export interface Parts {
  handoffs: TenantCollection<HandoffDoc>;
  /** The store's clock. */
  now(): Date;
  log: Pick<Runtime["log"], "warn">;
}

/** Short, because search must not delay writes: it catches up later if it does not answer. */
const PUT_TIMEOUT_MS = 2_000;

/** Calls other services: a context, or the broker in loops. */
type Calls = Pick<Call, "call">;

/** Returns the caller: the contracts admit only agents. */
export function agentOf({ meta }: Pick<Call, "meta">): AgentCaller {
  return meta.caller as AgentCaller;
}

/** Returns a handoff of the calling agent, or null. */
export function findHandoff({ handoffs, now }: Parts, ctx: Call<{ id: string }>): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  return handoffs.findOne(tenant_id, { _id: ctx.params.id, agent_id, ...standing(now()) });
}

/** Returns a handoff of the calling agent. @throws Fault not_found */
export async function requireOwn(parts: Parts, ctx: Call<{ id: string }>): Promise<HandoffDoc> {
  const doc = await findHandoff(parts, ctx);
  if (!doc) throw notFound("handoff", ctx.params.id);
  return doc;
}

/**
 * Changes a handoff of the calling agent, and updates search. Returns null if it does not exist or `guard` does not
 * match.
 *
 * @param change the fields to set
 */
export async function change(
  parts: Parts,
  ctx: Call,
  guard: object,
  change: Partial<HandoffDoc>,
): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  const doc = await parts.handoffs.update(
    tenant_id,
    { agent_id, ...guard },
    {
      $set: { ...change, changed_at: parts.now() },
      $inc: { version: 1 },
    },
  );
  if (doc) await tellSearch(parts, ctx, doc);
  return doc;
}

export async function tellSearch({ log }: Parts, ctx: Calls, doc: HandoffDoc): Promise<void> {
  const put: SearchPut = { tenant_id: doc.tenant_id, entries: [toEntry(doc)] };
  try {
    await ctx.call("search.put", put, { timeout: PUT_TIMEOUT_MS });
  } catch (err) {
    log.warn({ err, handoff_id: doc._id }, "handoffs: search will learn of a change later");
  }
}

/**
 * Removes a handoff, if `guard` still matches, and its search entries; returns whether it did. Search comes first, so
 * that an interrupted removal is found again by its row, and is repeated for concurrent writes.
 */
export async function remove(
  parts: Parts,
  ctx: Calls,
  { tenant_id, _id }: Pick<HandoffDoc, "tenant_id" | "_id">,
  guard: object = {},
): Promise<boolean> {
  const drop: SearchDrop = { tenant_id, kind: "handoff", ids: [_id] };
  await ctx.call("search.drop", drop);
  if (await parts.handoffs.delete(tenant_id, { _id, ...guard })) {
    await ctx.call("search.drop", drop);
    return true;
  }
  const kept = await parts.handoffs.findOne(tenant_id, { _id });
  if (kept) await tellSearch(parts, ctx, kept);
  return false;
}
