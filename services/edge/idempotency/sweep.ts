import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc } from "./idempotency.model.ts";

const BATCH = 1000;

/** Deletes expired keys, a batch of them, and the secrets of answers. Returns whether there may be more. */
export async function sweep(records: TenantCollection<IdempotencyDoc>, now: number): Promise<boolean> {
  const due = { $lte: new Date(now) };
  const spent = { secret_ends_at: due };
  const options = { projection: { tenant_id: 1 } as const, limit: BATCH };
  const rows = (await records.system.find(spent, options).toArray()) as IdempotencyDoc[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const update = { $set: { answer: null }, $unset: { secret_ends_at: 1, answer_blob: 1 } };
    await records.updateMany(tenant_id, { _id: { $in: those.map(({ _id }) => _id) }, ...spent }, update);
  }
  const more = await records.deleteDue({ expires_at: due }, BATCH);
  return more || rows.length === BATCH;
}
