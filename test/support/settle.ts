import { patience } from "./patience.ts";

/** How long to go on asking, in ms, and how to name what was waited for when it did not come. */
interface SettleOptions {
  /** Longer than usual; less counts as `USUAL_MS`. */
  within?: number;
  /** Time between two looks, in ms. Without it they become rarer, as each costs processor time: every 20 to 100. */
  every?: number;
  what?: string;
}

/** Only what fails waits so long: a shorter limit would save nothing, and fail on a busy machine. */
const USUAL_MS = 30_000;

/** On a cluster everything takes several processes, which share what cores there are. Less than the limit of a test. */
const BY_WORLD = process.env.SENSORIUM_TEST_WORLD === "cluster" ? 1.5 : 1;

/**
 * Asks `condition` again and again until it gives something other than `undefined`, `null` or `false`, and
 * returns that. A condition that throws counts as not yet true.
 *
 * @throws Error naming what was waited for, with the last error or value, after `within` ms (half as much again on a
 *   cluster, longer on a busy machine)
 */
export async function settle<T>(
  condition: () => T | Promise<T>,
  { within = USUAL_MS, every, what = condition.toString() }: SettleOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const started = performance.now();
  let allowed: number;
  let last: unknown;
  do {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false)
        return value as Exclude<T, undefined | null | false>;
      last = value;
    } catch (error) {
      last = error;
    }
    const pause = every ?? Math.min(Math.max((performance.now() - started) / 20, 20), 100);
    await new Promise((resolve) => setTimeout(resolve, pause));
    allowed = Math.max(USUAL_MS, within) * BY_WORLD * patience();
  } while (performance.now() - started < allowed);
  throw new Error(`not settled within ${Math.round(allowed)} ms: ${what} (last: ${String(last)})`, {
    cause: last,
  });
}
