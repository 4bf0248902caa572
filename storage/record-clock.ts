import { RemoteClock } from "../lib/clock.ts";

/** Readings before the first use of the clock, until it is good. */
const FIRST_READINGS = 8;
/** An error above this is reduced by further readings soon. */
const GOOD_MS = 3;
const READ_MS = 2000;
const READ_SOON_MS = 500;

/** The record's clock, as this node knows it. */
export interface RecordClock extends Pick<RemoteClock, "now" | "passed"> {
  /** How far the record's clock is ahead of this machine's, and by how much that may be wrong, in milliseconds. */
  readonly offset: number;
  readonly error: number;
}

/**
 * Follows the clock of a MongoDB. Resolves when its time is known.
 *
 * @param ask returns the record's time
 */
export async function followClock(ask: () => Promise<Date>): Promise<{ clock: RecordClock; stop(): void }> {
  const clock = new RemoteClock();
  const read = async () => {
    const asked = performance.now();
    const time = (await ask()).getTime();
    clock.add({ asked, answered: performance.now(), time });
  };
  await read();
  for (let i = 1; i < FIRST_READINGS && clock.error > GOOD_MS; i++) await read();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const readLater = () => {
    if (isStopped) return;
    const again = async () => {
      // Without an answer the error grows, which readiness reports.
      await read().catch(() => {});
      readLater();
    };
    timer = setTimeout(again, clock.error > GOOD_MS ? READ_SOON_MS : READ_MS).unref();
  };
  readLater();
  const stop = () => {
    isStopped = true;
    clearTimeout(timer);
  };
  return { clock, stop };
}
