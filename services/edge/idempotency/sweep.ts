import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc } from "./idempotency.model.ts";

const BATCH = 1000;

/** Removes the keys whose time is over, and the secrets of answers that held one. */
export async function sweep(records: TenantCollection<IdempotencyDoc>, now: number): Promise<void> {
  const due = { $lte: new Date(now) };
  await records.system.updateMany(
    { secret_ends_at: due },
    { $set: { answer: null }, $unset: { secret_ends_at: 1 } },
  );
  // In batches: one delete of a day's keys would hold up everybody's writes.
  for (;;) {
    const expired = await records.system
      .find({ expires_at: due }, { projection: { _id: 1 }, limit: BATCH })
      .toArray();
    if (expired.length === 0) return;
    await records.system.deleteMany({ _id: { $in: expired.map(({ _id }) => _id) }, expires_at: due });
  }
}
