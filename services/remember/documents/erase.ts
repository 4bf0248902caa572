import type { Call } from "../../../lib/access/caller.ts";
import { writings } from "../../../lib/text/subject.ts";
import { onEveryNode } from "../../../mixins/every-node.ts";
import { place } from "../../../mixins/queue.ts";
import type { SearchDrop } from "../../../storage/search/entry.ts";
import type { DocumentDoc } from "./documents.model.ts";
import type { Parts } from "./parts.ts";
import { audienceOf } from "./rows.ts";

const PAGE = 200;

export interface EraseSubject {
  tenant_id: string;
  subject: string;
  /** Only counts. */
  dry_run?: boolean;
}

interface Erased {
  documents: number;
  chunks: number;
  vectors?: number;
}

/** Fields that must be removed from a deleted document, including its name. */
export const GONE = { live_key: 1, version_key: 1 } as const;

/** Returns the emptied row of a document that is hidden; the queue does the rest. */
export function emptied(
  { tenant_id, agent_id }: Pick<DocumentDoc, "tenant_id" | "agent_id">,
  now: number,
): Partial<DocumentDoc> {
  return {
    ...{ status: "deleted", filename: "", hash: "", error: null, audience: audienceOf() },
    ...{ stale_since: new Date(now), queue: place(tenant_id, now, agent_id), attempts: 0 },
  };
}

/**
 * Erases documents about a subject, with the bytes of their files. The row is kept until nothing else is left, so that
 * an interrupted erasure finds it again.
 */
export async function eraseSubject(
  parts: Parts,
  ctx: Pick<Call<EraseSubject>, "broker" | "call" | "params">,
): Promise<Erased> {
  const { documents, chunks, now } = parts;
  const { tenant_id, subject, dry_run = false } = ctx.params;
  const rows = await documents.find(
    tenant_id,
    { subject: { $in: writings(subject) } },
    { projection: { tenant_id: 1, agent_id: 1, hash: 1 } },
  );
  const ids = rows.map(({ _id }) => _id);
  if (dry_run) {
    return { documents: ids.length, chunks: await chunks.count(tenant_id, { document_id: { $in: ids } }) };
  }
  const erased = { documents: ids.length, chunks: 0, vectors: 0 };
  if (ids.length) await ctx.call("idempotency.erase", { tenant_id, ids });
  for (const row of rows) {
    const { _id, hash } = row;
    const standing = { _id, status: { $ne: "deleted" as const } };
    // The hash stays until its blob is deleted.
    const $set = { ...emptied(row, now()), hash };
    await documents.update(tenant_id, standing, { $set, $unset: GONE });
    await onEveryNode(ctx.broker, "documents.leave", { document_ids: [_id] });
    erased.chunks += await chunks.count(tenant_id, { document_id: _id });
    erased.vectors += await dropChunks(parts, ctx, tenant_id, _id);
    if (hash) await ctx.call("blobs.erase", { tenant_id, hashes: [hash] });
    await documents.update(tenant_id, { _id }, { $set: { hash: "" }, $unset: { subject: 1 } });
  }
  parts.nudge();
  return erased;
}

/** Removes a document's chunks from search, then their rows. @returns how many vectors they had */
export async function dropChunks(
  { chunks }: Pick<Parts, "chunks">,
  caller: Pick<Call, "call">,
  tenant_id: string,
  document_id: string,
): Promise<number> {
  let vectors = 0;
  for (let from = 0; ; from += PAGE) {
    const range = { $gte: from, $lt: from + PAGE };
    const options = { projection: { chunk_index: 1 } } as const;
    const page = await chunks.find(tenant_id, { document_id, chunk_index: range }, options);
    if (page.length === 0) break;
    const drop: SearchDrop = { tenant_id, kind: "chunk", ids: page.map(({ _id }) => _id) };
    vectors += (await caller.call<{ vectors: number }, SearchDrop>("search.drop", drop)).vectors;
  }
  await chunks.deleteMany(tenant_id, { document_id });
  return vectors;
}
