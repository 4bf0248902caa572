import { setTimeout } from "node:timers/promises";
import { isStoreLost } from "./store-lost.ts";

const FIRST_MS = 100;
const LONGEST_MS = 2000;

/** Repeats a step until the store, or what else it needs, is neither away nor busy. Reports each failure. */
export async function untilAvailable<T>(
  step: () => Promise<T>,
  report: (err: Error) => void,
  isPassing: (err: unknown) => boolean = isStoreLost,
): Promise<T> {
  for (let pause = FIRST_MS; ; pause = Math.min(pause * 2, LONGEST_MS)) {
    try {
      return await step();
    } catch (err) {
      if (!isPassing(err)) throw err;
      report(err as Error);
    }
    await setTimeout(pause);
  }
}
