import type { Where } from "../../../storage/query.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import type { Parts } from "./parts.ts";

const AT_ONCE = 200;

/** Matches handoffs whose citations hold titles of these memories. */
export function withTitles(ids: readonly string[]): Where<HandoffDoc> {
  return { citations: { $elemMatch: { memory_id: { $in: ids }, title: { $ne: "" } } } };
}

/** Removes the titles of erased memories from citations; returns the number of handoffs. */
export async function eraseTitles(
  { handoffs, now }: Pick<Parts, "handoffs" | "now">,
  tenant_id: string,
  ids: readonly string[],
): Promise<number> {
  const gone = new Set(ids);
  let count = 0;
  // Repeats until none is left: a concurrent save is found by the next round.
  for (;;) {
    const docs = await handoffs.find(tenant_id, withTitles(ids), { limit: AT_ONCE });
    if (docs.length === 0) return count;
    for (const { _id, version, citations } of docs) {
      const left = citations.map((each) => (gone.has(each.memory_id) ? { ...each, title: "" } : each));
      const $set = { citations: left, changed_at: now() };
      if (await handoffs.update(tenant_id, { _id, version }, { $set, $inc: { version: 1 } })) count++;
    }
  }
}
