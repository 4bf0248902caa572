/** A number of seconds, ±20 %, so that what failed together does not come back together. */
export function jittered(seconds: number, random: () => number = Math.random): number {
  return seconds * (0.8 + 0.4 * random());
}

const LONGEST_SECONDS = 3600;

/** Seconds until the next hand-out after the given number of them: 1, 2, 4, … up to an hour, ±20 % (api.md Delivery). */
export function backOff(attempts: number, random?: () => number): number {
  return jittered(Math.min(2 ** Math.max(attempts - 1, 0), LONGEST_SECONDS), random);
}

const PUSH_LADDER_SECONDS = [5, 30, 300, 1800];

/** Seconds until a failed push is tried again: 5 s, 30 s, 5 min, then 30 min, ±20 % (api.md Delivery, `push`). */
export function pushBackOff(attempts: number, random?: () => number): number {
  const rung = Math.min(Math.max(attempts, 1), PUSH_LADDER_SECONDS.length) - 1;
  return jittered(PUSH_LADDER_SECONDS[rung] as number, random);
}
