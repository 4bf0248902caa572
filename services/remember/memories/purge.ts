import { eraseEverywhere } from "./erase-everywhere.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Calls, Memories } from "./memories.ts";
import { completeReplacement } from "./supersede.ts";

const BATCH = 100;
/** After this long the writer of a replacement has finished or crashed. */
const PENDING_MS = 5_000;

/** Deletes memories permanently once they can no longer be restored. @returns whether there may be more */
export async function purge(of: Memories, ctx: Calls): Promise<boolean> {
  const { rows: memories, now } = of;
  const due = { purge_at: { $lte: now() } };
  const rows = (await memories.system
    .find(due, { limit: BATCH, projection: { tenant_id: 1 } })
    .toArray()) as Pick<MemoryDoc, "_id" | "tenant_id">[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const ids = those.map(({ _id }) => _id);
    await eraseEverywhere(of, ctx, tenant_id, ids);
    await memories.deleteMany(tenant_id, { _id: { $in: ids }, ...due });
  }
  return rows.length === BATCH;
}

/** Finishes replacements that were interrupted. @returns whether there may be more */
export async function finishPending(memories: Memories, ctx: Calls): Promise<boolean> {
  const before = new Date(memories.now().getTime() - PENDING_MS);
  const { rows, more } = await memories.rows.findAnyWithin(
    { pending_at: { $lte: before } },
    { limit: BATCH },
  );
  for (const row of rows) await completeReplacement(memories, ctx, row);
  return more || rows.length === BATCH;
}
