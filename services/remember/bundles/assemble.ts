import type { AgentCaller } from "../../../lib/access/caller.ts";
import { newUuid } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { WEIGHTS_VERSION } from "../../../storage/search/features.ts";
import type { CallOf } from "../../runtime.ts";
import { deletedMemories } from "../memories/readable.ts";
import { type Placed, renderBrief } from "./brief.ts";
import type { assembleBundle as operation } from "./bundles.contract.ts";
import { type BundleDoc, type BundleItem, present } from "./bundles.model.ts";
import { gather, isSaid } from "./gather.ts";

/** Gathers a bundle for the calling agent, and keeps it. @throws Fault validation_error */
export async function assembleBundle(
  bundles: TenantCollection<BundleDoc>,
  now: () => number,
  retentionDays: number,
  ctx: CallOf<typeof operation>,
) {
  const { tenant_id, agent_id } = ctx.meta.caller as AgentCaller;
  const { query } = ctx.params;
  const asked = isSaid(query) ? query : null;
  for (;;) {
    const { items, degraded_reasons } = await gather(ctx);
    const at = now();
    const kept = await bundles.insertOnce({
      ...{ _id: newUuid(ctx.meta.idempotency_seed), tenant_id, agent_id, query: asked },
      items: items.map(toItem),
      rendered_brief: renderBrief({ query: asked, items, degraded_reasons }),
      ...{ degraded_reasons, weights_version: WEIGHTS_VERSION },
      memory_ids: items.filter(({ kind }) => kind === "memory").map(({ item_id }) => item_id),
      created_at: new Date(at),
      expires_at: new Date(at + retentionDays * DAY_MS),
    });
    if ((await deletedMemories(ctx, kept.memory_ids)).length === 0) return present(kept);
    // A memory was erased while the bundle was gathered.
    await bundles.delete(tenant_id, { _id: kept._id });
  }
}

function toItem({ kind, item_id, title, score, source, why, rank }: Placed): BundleItem {
  return { kind, item_id, title, score, source, why, rank };
}
