import { availableParallelism, loadavg } from "node:os";

const MOST = 5;

/**
 * How many times longer things may take now: as many programs as there are per core, by the load of the last minute. A whole
 * number from 1 to 5: the time limits of processes take no others.
 */
export function patience(): number {
  const [lastMinute = 0] = loadavg();
  return Math.min(MOST, Math.max(1, Math.ceil(lastMinute / availableParallelism())));
}
