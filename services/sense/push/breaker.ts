import { DAY_MS } from "../../../lib/time.ts";

/** An unreachable endpoint: since when, and when it is retried. Times in ms. */
export interface OpenBreaker {
  opened_at: number;
  probes: number;
  next_probe_at: number;
  last_error: string;
}

const FIRST_PROBE_MS = 5_000;
const LONGEST_INTERVAL_MS = 3_600_000;

/** How long deliveries are parked for an unreachable endpoint. */
export const PARKED_MS = DAY_MS;

/** Returns the breaker after another failure: probes at 5 s, 10 s, 20 s … up to every hour. */
export function opened(before: OpenBreaker | null, now: number, last_error: string): OpenBreaker {
  const probes = before ? before.probes + 1 : 0;
  return {
    opened_at: before?.opened_at ?? now,
    probes,
    next_probe_at: now + intervalAfter(probes),
    last_error,
  };
}

const intervalAfter = (probes: number) => Math.min(FIRST_PROBE_MS * 2 ** probes, LONGEST_INTERVAL_MS);

/** Returns when the endpoint last could not be reached. */
export function failedAt({ next_probe_at, probes }: Pick<OpenBreaker, "next_probe_at" | "probes">): number {
  return next_probe_at - intervalAfter(probes);
}

/** Returns the creation time before which deliveries have been parked too long; null while there are none. */
export function parkedTooLong({ opened_at }: OpenBreaker, now: number): number | null {
  return now - opened_at >= PARKED_MS ? now - PARKED_MS : null;
}
