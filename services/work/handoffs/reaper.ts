import type { Call } from "../../../lib/access/caller.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { type Parts, remove } from "./parts.ts";

const BATCH = 100;

/** Removes expired handoffs; returns whether there may be more. */
export async function reap(parts: Parts, calls: Pick<Call, "call">): Promise<boolean> {
  const over = { reap_at: { $lte: parts.now() } };
  const options = { limit: BATCH, projection: { _id: 1, tenant_id: 1 } };
  const ended = (await parts.handoffs.system.find(over, options).toArray()) as Pick<
    HandoffDoc,
    "_id" | "tenant_id"
  >[];
  // Handoffs that were resumed, saved or pinned meanwhile stay.
  for (const each of ended) await remove(parts, calls, each, over);
  return ended.length === BATCH;
}
