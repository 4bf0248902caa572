import type { ServiceBroker } from "moleculer";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { BundleDoc } from "./bundles.model.ts";

const BATCH = 100;
/** How long a bundle is held for the request that will name it; a handoff's reference extends it by the same time. */
const HELD_MS = DAY_MS;

interface Held {
  tenant_id: string;
  agent_id: string;
  id: string;
  /** Held by a row that is never removed. */
  forGood: boolean;
}

/** Keeps a bundle that is about to be named; returns whether the agent has it. */
export async function hold(bundles: TenantCollection<BundleDoc>, now: number, held: Held): Promise<boolean> {
  const { tenant_id, agent_id, id: _id, forGood } = held;
  const until = new Date(now + HELD_MS);
  await (forGood
    ? bundles.updateMany(tenant_id, { _id, agent_id }, { $unset: { expires_at: 1 } })
    : bundles.updateMany(
        tenant_id,
        { _id, agent_id, expires_at: { $lt: until } },
        { $set: { expires_at: until } },
      ));
  return bundles.exists(tenant_id, { _id, agent_id });
}

/** Removes expired bundles that no handoff names; returns whether there may be more. */
export async function reap(
  bundles: TenantCollection<BundleDoc>,
  now: number,
  broker: Pick<ServiceBroker, "call">,
): Promise<boolean> {
  const over = { expires_at: { $lte: new Date(now) } };
  const options = { limit: BATCH, projection: { _id: 1, tenant_id: 1 } as const };
  const rows = (await bundles.system.find(over, options).toArray()) as BundleDoc[];
  for (const [tenant_id, those] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const ids = those.map(({ _id }) => _id);
    const asked = { tenant_id, bundle_ids: ids };
    const named = new Set(await broker.call<string[], object>("handoffs.bundle_references", asked));
    const $set = { expires_at: new Date(now + HELD_MS) };
    await bundles.updateMany(tenant_id, { _id: { $in: [...named] }, ...over }, { $set });
    // Bundles held meanwhile stay.
    await bundles.deleteMany(tenant_id, { _id: { $in: ids.filter((id) => !named.has(id)) }, ...over });
  }
  return rows.length === BATCH;
}
