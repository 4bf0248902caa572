/** One reading of the record's clock. `asked` and `answered` are times of this process's monotonic clock. */
interface Reading {
  asked: number;
  answered: number;
  /** The answer, in milliseconds since 1970. */
  time: number;
}

/** How far two clocks drift apart in a millisecond, at most: quartz is within 50 ppm. */
const DRIFT = 100e-6;
/** The record answers whole milliseconds: half of one is the mean of what it leaves out, and its error. */
const HALF_MS = 0.5;
/** `now` stands still for up to this long rather than go back. */
const HOLD_MS = 1000;
/** A larger error is reported; what is due then no longer waits for certainty. */
const MOST_UNSURE_MS = 1000;
/** Readings before the first use of the clock, until it is good. */
const FIRST_READINGS = 8;
/** An error above this is reduced by further readings soon. */
const GOOD_MS = 3;
const READ_MS = 10_000;
const READ_SOON_MS = 500;

/**
 * The record's time as this node knows it, whatever this machine's wall clock shows: of all readings that with the
 * shortest round trip counts (Cristian's algorithm), until drift makes a later one better.
 */
export class RecordClock {
  readonly #monotonic: () => number;
  /** The record's time less the monotonic one, as of `#since`, and how far it may be wrong. */
  #offset = 0;
  #error = Number.POSITIVE_INFINITY;
  #since = 0;
  #last = 0;

  constructor(monotonic = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  add({ asked, answered, time }: Reading): void {
    const offset = time + HALF_MS - (asked + answered) / 2;
    const error = (answered - asked) / 2 + HALF_MS;
    // The record's clock was set, or another one answers, if not both can be right: only the latest counts.
    const isSet = Math.abs(offset - this.#offset) > error + this.error;
    if (!isSet && error > this.error) return;
    this.#offset = offset;
    this.#error = error;
    this.#since = answered;
  }

  /** How far `now` may be wrong, in milliseconds. */
  get error(): number {
    return this.#error + (this.#monotonic() - this.#since) * DRIFT;
  }

  /** How far the record's clock is ahead of this machine's, in milliseconds. */
  get offset(): number {
    return this.#offset + this.#monotonic() - Date.now();
  }

  /** Returns the record's time in whole milliseconds. It does not go back. */
  now(): number {
    const time = Math.floor(this.#monotonic() + this.#offset);
    if (time > this.#last || time < this.#last - HOLD_MS) this.#last = time;
    return this.#last;
  }

  /** Returns a time that is over for certain, unless the error is above a second. */
  past(): number {
    return this.now() - Math.min(Math.ceil(this.error), MOST_UNSURE_MS);
  }
}

/** Follows the clock of a MongoDB. Resolves when its time is known. @param ask returns the record's time */
export async function followClock(ask: () => Promise<Date>): Promise<{ clock: RecordClock; stop(): void }> {
  const clock = new RecordClock();
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
