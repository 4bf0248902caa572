import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc } from "./idempotency.model.ts";

const BATCH = 1000;

/** Deletes expired keys, a batch of them, and the secrets of answers. Returns whether there may be more. */
export async function sweep(records: TenantCollection<IdempotencyDoc>, now: number): Promise<boolean> {
  const due = { $lte: new Date(now) };
  await records.system.updateMany(
    { secret_ends_at: due },
    { $set: { answer: null }, $unset: { secret_ends_at: 1 } },
  );
  // In batches: one delete of a day's keys would block all writes.
  const expired = await records.system
    .find({ expires_at: due }, { projection: { _id: 1 }, limit: BATCH })
    .toArray();
  if (expired.length)
    await records.system.deleteMany({ _id: { $in: expired.map(({ _id }) => _id) }, expires_at: due });
  return expired.length === BATCH;
}
