import type { AgentCaller, Call } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { addressId } from "../../../lib/ids.ts";
import { toStored } from "../../../lib/text/namespace.ts";
import { pageOfNamespaces } from "../../../storage/namespaces.ts";
import { guardedWrite } from "../../../storage/writes.ts";
import { insertMemory, prepareMemory } from "./create.ts";
import type {
  deleteMemoryByKey,
  getMemoryByKey,
  listMemoryNamespaces,
  putMemoryByKey,
} from "./keys.contract.ts";
import { forget, replace } from "./lifecycle.ts";
import { MAX_CONTENT } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import type { NewMemory } from "./new-memory.ts";

type Put = ParamsOf<typeof putMemoryByKey>;
type At = ParamsOf<typeof getMemoryByKey>;

const idOf = ({ agent_id }: AgentCaller, { namespace, key }: At) => addressId(agent_id, namespace, key);

/** Creates or replaces the memory under a key. @returns the memory, and whether it is new */
export async function putByKey(memories: Memories, ctx: Call<Put>) {
  const { namespace, key, ...body } = ctx.params;
  const caller = ctx.meta.caller as AgentCaller;
  const { tenant_id } = caller;
  const input: NewMemory = {
    ...{ title: key, type: "semantic", scope: "agent", content: textOf(body.metadata) },
    ...body,
  };
  const row = { ...(await prepareMemory(memories, ctx, input)), namespace: toStored(namespace), key };
  const _id = idOf(caller, ctx.params);
  const attempt = async () => {
    const { memory_id } = await memories.keys.insertOnce({ _id, tenant_id, memory_id: row._id });
    const there = await memories.rows.findOne(tenant_id, { _id: memory_id });
    if (there && isInForce(memories, there))
      return { doc: await replace(memories, ctx, there, row), isNew: false };
    if (
      there &&
      !(await memories.keys.update(tenant_id, { _id, memory_id }, { $set: { memory_id: row._id } }))
    )
      return null;
    // Without a row, another request is about to write it, or stopped before it did: this one writes the same.
    const doc = await insertMemory(memories, ctx, there ? row : { ...row, _id: memory_id });
    const isOwn = there !== null || memory_id === row._id;
    return { doc: isOwn ? doc : await replace(memories, ctx, doc, row), isNew: true };
  };
  const done = await guardedWrite(attempt, "The memory is being changed concurrently. Retry.");
  return { memory: await memories.presentOne(ctx, done.doc), isNew: done.isNew };
}

const textOf = (metadata: object | null | undefined) => JSON.stringify(metadata ?? {}).slice(0, MAX_CONTENT);

function isInForce(memories: Memories, doc: MemoryDoc): boolean {
  return doc.status === "active" && !memories.isExpired(doc);
}

/** @throws Fault not_found */
export async function getByKey(memories: Memories, ctx: Call<At>) {
  return memories.presentOne(ctx, await find(memories, ctx));
}

/** @throws Fault not_found */
export async function deleteByKey(memories: Memories, ctx: Call<ParamsOf<typeof deleteMemoryByKey>>) {
  const { _id } = await find(memories, ctx);
  return forget(memories, ctx, _id);
}

async function find(memories: Memories, { params, meta }: Pick<Call<At>, "params" | "meta">) {
  const caller = meta.caller as AgentCaller;
  const pointer = await memories.keys.findOne(caller.tenant_id, { _id: idOf(caller, params) });
  const doc = pointer && (await memories.rows.findOne(caller.tenant_id, { _id: pointer.memory_id }));
  if (doc && isInForce(memories, doc)) return doc;
  throw notFound("memory", params.key);
}

/** Returns a page of the namespaces of the caller's active memories. */
export function listOwnNamespaces(memories: Memories, ctx: Call<ParamsOf<typeof listMemoryNamespaces>>) {
  const { tenant_id, agent_id } = ctx.meta.caller as AgentCaller;
  const inForce = { $or: [{ expires_at: null }, { expires_at: { $gt: memories.now() } }] };
  const filter = { agent_id, status: "active" as const, $and: [inForce] };
  return pageOfNamespaces(memories.rows, tenant_id, filter, ctx.params);
}
