import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { KeyState } from "../keys/keys.contract.ts";
import type { SessionDoc } from "./devices.model.ts";

const BATCH = 500;

/** Removes devices that have not fetched their key in time. Returns false: nothing is left to do. */
export async function removeUnfetched(sessions: TenantCollection<SessionDoc>, now: Date): Promise<false> {
  // Null is no date, so sessions with a key do not match.
  await sessions.system.deleteMany({ fetch_by: { $lt: now } });
  return false;
}

/**
 * Removes devices without recent heartbeats whose keys are no longer valid. With a valid key a device stays visible, so
 * that someone can disconnect it. Returns false: nothing is left to do.
 */
export async function forgetGone(
  sessions: TenantCollection<SessionDoc>,
  broker: Pick<ServiceBroker, "call">,
  since: Date,
): Promise<false> {
  const options = { sort: { _id: 1 }, limit: BATCH, projection: { key_id: 1 } } as const;
  for (let after = ""; ; ) {
    const quiet = { _id: { $gt: after }, last_seen_at: { $lt: since }, key_id: { $ne: null } };
    const rows = (await sessions.system.find(quiet, options).toArray()) as SessionDoc[];
    const asked = { key_ids: rows.map(({ key_id }) => key_id) };
    const good = rows.length ? await broker.call<KeyState[], object>("keys.of_tokens", asked) : [];
    const known = new Set<string | null>(good.map(({ id }) => id));
    const gone = rows.filter(({ key_id }) => !known.has(key_id)).map(({ _id }) => _id);
    if (gone.length) await sessions.system.deleteMany({ _id: { $in: gone }, last_seen_at: { $lt: since } });
    if (rows.length < BATCH) return false;
    after = rows.at(-1)?._id as string;
  }
}
