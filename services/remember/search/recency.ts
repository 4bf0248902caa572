import { DAY_MS } from "../../../lib/time.ts";

const HALF_LIFE_MS = 30 * DAY_MS;

/** Returns the weight of age: 1 when new, halved every 30 days. Times in milliseconds. */
export function recentShare(at: number, now: number): number {
  return 2 ** (-Math.max(0, now - at) / HALF_LIFE_MS);
}
