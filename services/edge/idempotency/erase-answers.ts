import type { TenantCollection } from "../../../storage/collection.ts";
import type { IdempotencyDoc } from "./idempotency.model.ts";

const PAGE = 200;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Drops stored answers that contain erased ids or are too large to search; their keys stay used. Scans all of the
 * tenant's answers: an index would cost every request.
 *
 * @param eraseBlobs deletes the blobs of dropped answers
 */
export async function eraseAnswers(
  records: TenantCollection<IdempotencyDoc>,
  tenant_id: string,
  ids: ReadonlySet<string>,
  eraseBlobs: (hashes: string[]) => Promise<unknown>,
): Promise<void> {
  const options = { sort: { _id: 1 } as const, limit: PAGE, projection: { answer: 1, answer_blob: 1 } };
  // A crash may leave a blob without an answer.
  const kept = { $or: [{ answer: { $ne: null } }, { answer_blob: { $exists: true } }] };
  let after = "";
  for (;;) {
    const rows = await records.find(tenant_id, { _id: { $gt: after }, ...kept }, options);
    const named = rows.filter((row) => row.answer_blob || names(row.answer as string, ids));
    const those = { _id: { $in: named.map(({ _id }) => _id) } };
    if (named.length) await records.updateMany(tenant_id, those, { $set: { answer: null } });
    const hashes = named.flatMap(({ answer_blob }) => answer_blob ?? []);
    if (hashes.length) {
      await eraseBlobs(hashes);
      await records.updateMany(tenant_id, those, { $unset: { answer_blob: 1 } });
    }
    if (rows.length < PAGE) return;
    after = (rows.at(-1) as IdempotencyDoc)._id;
  }
}

/** Whether an answer contains one of the ids. */
export function names(answer: string, ids: ReadonlySet<string>): boolean {
  return (answer.match(UUID) ?? []).some((id) => ids.has(id));
}
