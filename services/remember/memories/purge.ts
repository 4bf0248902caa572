import type { Caller } from "./changes.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";
import { activate, replace } from "./supersede.ts";

const BATCH = 100;
/** After this long the writer of a replacement has finished or crashed. */
const PENDING_MS = 5_000;

/**
 * Deletes memories permanently once they can no longer be restored.
 *
 * @param eraseEverywhere erases other domains' data about these memories, before the rows
 * @returns whether there may be more
 */
export async function purge(
  { memories, now }: Parts,
  eraseEverywhere: (tenant_id: string, ids: string[]) => Promise<unknown>,
): Promise<boolean> {
  const due = { purge_at: { $lte: now() } };
  const rows = (await memories.system
    .find(due, { limit: BATCH, projection: { tenant_id: 1 } })
    .toArray()) as Pick<MemoryDoc, "_id" | "tenant_id">[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const ids = those.map(({ _id }) => _id);
    await eraseEverywhere(tenant_id, ids);
    await memories.deleteMany(tenant_id, { _id: { $in: ids }, ...due });
  }
  return rows.length === BATCH;
}

/** Finishes replacements that were interrupted. @returns whether there may be more */
export async function finishPending(parts: Parts, ctx: Caller): Promise<boolean> {
  const { memories, now } = parts;
  const before = new Date(now().getTime() - PENDING_MS);
  const rows = (await memories.system
    .find({ pending_at: { $lte: before } }, { limit: BATCH })
    .toArray()) as MemoryDoc[];
  for (const row of rows) {
    const replaced = await replace(parts, row, row.supersedes_id as string);
    if ("refused" in replaced) await memories.delete(row.tenant_id, { _id: row._id, status: "pending" });
    else await parts.changes.after(ctx, [await activate(parts, row), replaced.doc]);
  }
  return rows.length === BATCH;
}
