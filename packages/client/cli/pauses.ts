import { Untried } from "../handler.ts";
import type { Listener } from "../listen.ts";
import { pause } from "../support.ts";
import { type Context, readList, text } from "./command.ts";
import { TryLater } from "./supervise.ts";
import { readDuration } from "./times.ts";
import { UsageError } from "./usage.ts";

export const PAUSE_OPTIONS = {
  "pause-on": {
    value: "CODE,CODE",
    means: "exit codes that return the event without an attempt and pause the worker; default: 75",
  },
  pause: { value: "DURATION", means: "how long it pauses; default: 5m" },
};

/** Pauses a worker whose command says to try later. */
export class Pauses {
  /** Exit codes that say so. */
  readonly codes: readonly number[];
  readonly #context: Context;
  readonly #ms: number;
  #listener: Listener | undefined;
  #paused: Promise<void> | undefined;
  #until = "";

  /** @throws UsageError */
  constructor(context: Context) {
    this.#context = context;
    this.codes = readCodes(context);
    this.#ms = readDuration(context, "pause", "5m");
  }

  /** Listens, again after each pause, until `isDone` says so or this program is asked to end. */
  async listen(open: () => Listener, isDone: () => boolean): Promise<void> {
    do {
      this.#paused = undefined;
      // The stream returns what it still holds as it closes, without counting an attempt.
      this.#listener = open();
      await this.#listener.done;
      await this.#paused;
    } while (this.#paused && !isDone() && !this.#context.signal.aborted);
  }

  /** Returns an error of a command as its handler throws it, and pauses if it says to try later. */
  heed(error: unknown, program: string, about: string): unknown {
    if (!(error instanceof TryLater)) return error;
    this.#start(`${about}: ${program} ${error.how}`);
    // People see the reason as the agent's last error.
    return new Untried(`${program} ${error.how}: paused until ${this.#until}`, 0);
  }

  stop(): void {
    void this.#listener?.stop();
  }

  #start(why: string): void {
    if (this.#paused) return;
    const { telling, signal } = this.#context;
    this.#until = new Date(Date.now() + this.#ms).toISOString();
    telling.note(`${why}: paused until ${this.#until}`);
    this.#paused = pause(this.#ms, signal).catch(() => {});
    this.stop();
  }
}

function readCodes(context: Context): number[] {
  const codes = (readList(context, "pause-on") ?? ["75"]).map(Number);
  if (codes.every((code) => Number.isInteger(code) && code > 0 && code < 256)) return codes;
  throw new UsageError(
    `--pause-on is ${text(context, "pause-on")}: expected exit codes from 1 to 255, such as 75,1.`,
  );
}
