import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import type { SessionDoc } from "./devices.model.ts";

const BATCH = 500;

/**
 * Removes devices without recent heartbeats whose keys are no longer valid. With a valid key a device stays visible, so
 * that someone can disconnect it.
 */
export async function forgetGone(
  sessions: TenantCollection<SessionDoc>,
  broker: Pick<ServiceBroker, "call">,
  since: Date,
): Promise<void> {
  const options = { sort: { _id: 1 }, limit: BATCH, projection: { key_id: 1 } } as const;
  for (let after = ""; ; ) {
    const quiet = { _id: { $gt: after }, last_seen_at: { $lt: since }, key_id: { $ne: null } };
    const rows = (await sessions.system.find(quiet, options).toArray()) as SessionDoc[];
    const asked = { key_ids: rows.map(({ key_id }) => key_id) };
    const good = rows.length ? await broker.call<KeyState[], object>("keys.of_tokens", asked) : [];
    const known = new Set<string | null>(good.map(({ id }) => id));
    const gone = rows.filter(({ key_id }) => !known.has(key_id)).map(({ _id }) => _id);
    if (gone.length) await sessions.system.deleteMany({ _id: { $in: gone }, last_seen_at: { $lt: since } });
    if (rows.length < BATCH) return;
    after = rows.at(-1)?._id as string;
  }
}
