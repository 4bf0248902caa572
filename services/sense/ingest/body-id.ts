import { createHash } from "node:crypto";
import { DAY_MS } from "../../../lib/time.ts";

export function digestOf(body: Uint8Array): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

/**
 * Returns an id for a body whose sender gave none: the same for 24 hours from the first delivery, then another. It
 * contains the day, and stays that of the day before until the event accepted under it is a day old: no other state is
 * needed.
 *
 * @param acceptedAt returns when an event was accepted under an id, in ms; null if none was.
 */
export async function idOfBody(
  body: Uint8Array,
  now: number,
  acceptedAt: (id: string) => Promise<number | null>,
): Promise<string> {
  const digest = digestOf(body);
  const day = Math.floor(now / DAY_MS);
  const previous = `${digest}:${day - 1}`;
  const at = await acceptedAt(previous);
  return at !== null && at > now - DAY_MS ? previous : `${digest}:${day}`;
}
