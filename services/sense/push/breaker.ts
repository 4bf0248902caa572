import { DAY_MS } from "../../../lib/time.ts";

/** An endpoint that could not be reached: since when, and when it is tried again. Times in ms. */
export interface OpenBreaker {
  opened_at: number;
  probes: number;
  next_probe_at: number;
  last_error: string;
}

const FIRST_PROBE_MS = 5_000;
const LONGEST_INTERVAL_MS = 3_600_000;

/** How long deliveries are parked for an endpoint that cannot be reached. */
export const PARKED_MS = DAY_MS;

/** The breaker after another failure to reach the endpoint: probes at 5 s, 10 s, 20 s … up to every hour. */
export function opened(before: OpenBreaker | null, now: number, last_error: string): OpenBreaker {
  const probes = before ? before.probes + 1 : 0;
  const interval = Math.min(FIRST_PROBE_MS * 2 ** probes, LONGEST_INTERVAL_MS);
  return { opened_at: before?.opened_at ?? now, probes, next_probe_at: now + interval, last_error };
}

/** Deliveries made before this time have been parked long enough; null while there cannot be any. */
export function parkedTooLong({ opened_at }: OpenBreaker, now: number): number | null {
  return now - opened_at >= PARKED_MS ? now - PARKED_MS : null;
}
