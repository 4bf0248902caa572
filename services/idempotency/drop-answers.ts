import type { TenantCollection } from "../../storage/collection.ts";
import type { IdempotencyDoc } from "./idempotency.model.ts";

const PAGE = 200;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * Drops the answers that name a memory that is erased, or are too large to look into; their keys stay used. Looks at
 * all that the tenant has: there is no index to find them by, which every request would pay for.
 *
 * @returns how many there were
 */
export async function dropAnswers(
  records: TenantCollection<IdempotencyDoc>,
  tenant_id: string,
  ids: ReadonlySet<string>,
): Promise<number> {
  const options = { sort: { _id: 1 } as const, limit: PAGE, projection: { answer: 1, answer_blob: 1 } };
  let dropped = 0;
  let after = "";
  for (;;) {
    const rows = await records.find(tenant_id, { _id: { $gt: after }, answer: { $ne: null } }, options);
    const named = rows.filter((row) => row.answer_blob || names(row.answer as string, ids));
    const update = { $set: { answer: null }, $unset: { answer_blob: 1 } } as const;
    const those = { _id: { $in: named.map(({ _id }) => _id) } };
    if (named.length) dropped += await records.updateMany(tenant_id, those, update);
    if (rows.length < PAGE) return dropped;
    after = (rows.at(-1) as IdempotencyDoc)._id;
  }
}

function names(answer: string, ids: ReadonlySet<string>): boolean {
  return (answer.match(UUID) ?? []).some((id) => ids.has(id));
}
