import type { Static } from "typebox";
import { callerId, type RequestContext } from "../../../lib/access/caller.ts";
import {
  agentAccess,
  isAtLeastAsVisible,
  mayRead,
  type Owned,
  type Scoped,
} from "../../../lib/access/visibility.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import type { Memory } from "./memories.contract.ts";

/** A memory as `memories.readable` returns it to other domains: its metadata is left out. */
export type ReadableMemory = Omit<Static<typeof Memory>, "metadata">;

/** Memories per call: a message between nodes holds about a megabyte, a memory up to 32 KB. */
const CHUNK = 25;
const BRIEF_CHUNK = 200;

interface Options {
  /** Omits content and metadata. */
  brief?: boolean;
}

/** Returns the memories that the caller may read by id, keyed by id. */
export async function readableMemories(
  ctx: RequestContext,
  ids: Iterable<string>,
  { brief = false }: Options = {},
): Promise<Map<string, ReadableMemory>> {
  const readable = new Map<string, ReadableMemory>();
  const wanted = [...new Set(ids)];
  const chunk = brief ? BRIEF_CHUNK : CHUNK;
  for (let at = 0; at < wanted.length; at += chunk) {
    const some = { ids: wanted.slice(at, at + chunk), brief };
    const rows = await ctx.call<ReadableMemory[], unknown>("memories.readable", some);
    for (const row of rows) readable.set(row.id, row);
  }
  return readable;
}

/** Returns only those in force or superseded: forgotten and expired memories are on no path. */
export async function standingMemories(
  ctx: RequestContext,
  ids: Iterable<string>,
  now: number,
  options?: Options,
): Promise<Map<string, ReadableMemory>> {
  const readable = await readableMemories(ctx, ids, options);
  for (const [id, memory] of readable) if (!isStanding(memory, now)) readable.delete(id);
  return readable;
}

/** Returns a memory that the caller may read by id. @throws Fault not_found */
export async function requireReadable(ctx: RequestContext, id: string): Promise<ReadableMemory> {
  const memory = (await readableMemories(ctx, [id])).get(id);
  if (!memory) throw notFound("memory", id);
  return memory;
}

/** Returns which memories were deleted: copies of them must not be kept. */
export async function deletedMemories(ctx: RequestContext, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { tenant_id } = ctx.meta.caller;
  const existing = new Set(await ctx.call<string[], unknown>("memories.existing", { tenant_id, ids }));
  return ids.filter((id) => !existing.has(id));
}

export function isOwn({ meta: { caller } }: RequestContext, { agent_id, user_id }: ReadableMemory): boolean {
  return (caller.kind === "agent" ? agent_id : user_id) === callerId(caller);
}

/** Whether a memory is neither forgotten nor expired. @param now in milliseconds */
export function isStanding(
  { status, expires_at }: Pick<ReadableMemory, "status" | "expires_at">,
  now: number,
): boolean {
  return status !== "forgotten" && (expires_at === null || Date.parse(expires_at) > now);
}

/** Whether all readers of a memory, including its owner, can read its successor. */
export async function isReadByAllReaders(
  ctx: Pick<RequestContext, "call">,
  { tenant_id, ...memory }: Scoped & { tenant_id: string },
  successor: Scoped,
): Promise<boolean> {
  if (!isAtLeastAsVisible(successor, memory)) return false;
  const { agent_id } = memory;
  if (agent_id === null || agent_id === successor.agent_id || successor.scope === "institutional")
    return true;
  const params = { tenant_id, agent_ids: [agent_id] };
  const [owner] = await ctx.call<Owned[], unknown>("agents.get_many", params);
  return !owner || mayRead(agentAccess(owner), successor);
}
