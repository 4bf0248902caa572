import { setTimeout as sleep } from "node:timers/promises";

/** One reading of another clock. `asked` and `answered` are times of this process's monotonic clock. */
interface Reading {
  asked: number;
  answered: number;
  /** The answer, in milliseconds since 1970. */
  time: number;
}

/** How far two clocks drift apart in a millisecond, at most: quartz is within 50 ppm. */
const DRIFT = 100e-6;
/** The other clock answers whole milliseconds: it shows a time until the next one. */
const RESOLUTION_MS = 1;
/** `now` stands still for up to this long rather than go back. */
const HOLD_MS = 1000;
/** A larger error is reported; order is then no longer waited for. */
const MOST_WAIT_MS = 1000;

/**
 * Knows another clock's time, and by how much it may be wrong, whatever this machine's wall clock shows.
 *
 * Each reading bounds the difference of the clocks by its round trip (Cristian's algorithm). The bounds of all readings
 * are intersected, so that the fastest counts (Marzullo's algorithm), and widen with time, because clocks drift.
 */
export class RemoteClock {
  readonly #monotonic: () => number;
  /** Bounds of the other clock's time less the monotonic one, as of `#since`. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #since = 0;
  #last = 0;

  constructor(monotonic = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  add({ asked, answered, time }: Reading): void {
    const drifted = (answered - this.#since) * DRIFT;
    const low = Math.max(this.#low - drifted, time - answered);
    const high = Math.min(this.#high + drifted, time + RESOLUTION_MS - asked);
    // No time is within both bounds if the other clock was set, or if another one answers: only the latest counts.
    const isSet = low > high;
    this.#low = isSet ? time - answered : low;
    this.#high = isSet ? time + RESOLUTION_MS - asked : high;
    this.#since = answered;
  }

  /** The other clock's time is at most this far from the middle of its bounds, in milliseconds. */
  get error(): number {
    return (this.#high - this.#low) / 2 + (this.#monotonic() - this.#since) * DRIFT;
  }

  /** How far the other clock is ahead of this machine's wall clock, in milliseconds. */
  get offset(): number {
    return (this.#low + this.#high) / 2 + this.#monotonic() - Date.now();
  }

  /** Returns the latest time that the other clock may show, in whole milliseconds. It does not go back. */
  now(): number {
    const time = Math.floor(this.#middle() + this.error);
    if (time > this.#last || time < this.#last - HOLD_MS) this.#last = time;
    return this.#last;
  }

  /**
   * Resolves when the other clock is past `time` for certain. Every process that follows it then stamps later times
   * (Spanner's commit wait).
   */
  async passed(time: number): Promise<void> {
    const until = this.#monotonic() + MOST_WAIT_MS;
    for (;;) {
      const left = Math.min(time + RESOLUTION_MS - (this.#middle() - this.error), until - this.#monotonic());
      if (left <= 0) return;
      await sleep(Math.ceil(left));
    }
  }

  #middle(): number {
    return (this.#low + this.#high) / 2 + this.#monotonic();
  }
}
