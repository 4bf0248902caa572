/** Returns seconds ±20 %, so that simultaneous failures are not retried simultaneously. */
export function jittered(seconds: number, random: () => number = Math.random): number {
  return seconds * (0.8 + 0.4 * random());
}

const LONGEST_SECONDS = 3600;

/** Returns the seconds to the next attempt at the service's own work after this many: 1, 2, 4, … up to an hour, ±20 %. */
export function backOff(attempts: number, random?: () => number): number {
  return jittered(Math.min(2 ** Math.max(attempts - 1, 0), LONGEST_SECONDS), random);
}

/** Before each retry of a delivery (api.md): with five attempts they outlast the deployment of a broken receiver. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [10, 60, 300, 1800];

/** Orders delays by which retry sooner: a negative number if the first do. The last delay of each repeats. */
export function compareDelays(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? (a.at(-1) as number)) - (b[at] ?? (b.at(-1) as number));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Returns the seconds to the retry after this many attempts, ±20 %; the last delay repeats. */
export function retryDelay(attempts: number, delays = RETRY_DELAYS_SECONDS, random?: () => number): number {
  const at = Math.min(Math.max(attempts, 1), delays.length) - 1;
  return jittered(delays[at] as number, random);
}
