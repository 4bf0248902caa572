/** Returns seconds ±20 %, so that simultaneous failures are not retried simultaneously. */
export function jittered(seconds: number, random: () => number = Math.random): number {
  return seconds * (0.8 + 0.4 * random());
}

const LONGEST_SECONDS = 3600;

/** Returns the seconds to the next attempt after this many: 1, 2, 4, … up to an hour, ±20 % (api.md Delivery). */
export function backOff(attempts: number, random?: () => number): number {
  return jittered(Math.min(2 ** Math.max(attempts - 1, 0), LONGEST_SECONDS), random);
}

const PUSH_LADDER_SECONDS = [5, 30, 300, 1800];

/**
 * Returns the seconds to the retry of a failed push: 5 s, 30 s, 5 min, then 30 min, ±20 % (api.md Delivery, `push`).
 */
export function pushBackOff(attempts: number, random?: () => number): number {
  const rung = Math.min(Math.max(attempts, 1), PUSH_LADDER_SECONDS.length) - 1;
  return jittered(PUSH_LADDER_SECONDS[rung] as number, random);
}
