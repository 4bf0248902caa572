import type { Claimed } from "./claim.ts";

/**
 * Formats a DeliveryEvent as JSON text. Ids, leases and times need no escaping, and the envelope is JSON already.
 *
 * @param lease as its holder names it
 */
export function deliveryJson(claimed: Claimed, lease = claimed.lease): string {
  const { id, event_id, envelope, attempt_count, created_at, lease_expires_at, matched } = claimed;
  const replay = claimed.replay_id === undefined ? "" : `,"replay_id":"${claimed.replay_id}"`;
  return `{"id":"${id}","event_id":"${event_id}","payload":${envelope},"attempt_count":${attempt_count},"created_at":"${created_at}","lease":"${lease}","lease_expires_at":"${lease_expires_at}","matched":${JSON.stringify(matched)}${replay}}`;
}
