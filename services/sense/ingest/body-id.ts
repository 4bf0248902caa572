import { createHash } from "node:crypto";
import { DAY_MS } from "../../../lib/time.ts";

export function digestOf(body: Uint8Array): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

/**
 * The id of a body that its sender gave none: the same for 24 hours from the first time, then another. It holds the
 * day, and is that of the day before as long as what came under it is not a day old: nothing else needs to be kept.
 *
 * @param acceptedAt When something was accepted under an id, in ms; null if nothing was.
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
