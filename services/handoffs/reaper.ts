import type { Call } from "../../lib/caller.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { type Parts, remove } from "./parts.ts";

const BATCH = 100;

/** Removes handoffs whose term is over; gives whether there may be more. */
export async function reap({ handoffs, now }: Parts, calls: Pick<Call, "call">): Promise<boolean> {
  const over = { reap_at: { $lte: now() } };
  const options = { limit: BATCH, projection: { _id: 1, tenant_id: 1 } };
  const ended = (await handoffs.system.find(over, options).toArray()) as Pick<
    HandoffDoc,
    "_id" | "tenant_id"
  >[];
  // Resumed, saved or pinned meanwhile, it stays.
  for (const each of ended) await remove({ handoffs }, calls, each, over);
  return ended.length === BATCH;
}
