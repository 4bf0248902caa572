import { describe, expect, test } from "@jest/globals";
import { Attempts } from "../../services/identity/auth/attempts.ts";
import { AttemptsInProgress } from "../../services/identity/auth/attempts-in-progress.ts";

const LIMIT = 3;

/** Attempts that begin at once and end on request; each reports whether it was admitted. */
function begin(count: number) {
  const attempts = new Attempts(LIMIT);
  const inProgress = new AttemptsInProgress();
  const keys = ["address", "account"];
  const ends: ((succeeded: boolean) => void)[] = [];
  const results = Array.from({ length: count }, async () => {
    try {
      await inProgress.take(keys, async () => attempts.begin(keys, 0));
    } catch (err) {
      return (err as { type: string }).type;
    }
    const succeeded = await new Promise<boolean>((resolve) => ends.push(resolve));
    if (succeeded) attempts.succeeded(keys);
    inProgress.leave(keys, succeeded);
    return succeeded;
  });
  return { ends, results: Promise.all(results) };
}

const next = () => new Promise((resolve) => setImmediate(resolve));

describe("attempts that begin at once", () => {
  test("are all admitted while they succeed, never more than the limit together", async () => {
    const { ends, results } = begin(50);
    for (let ended = 0; ended < 50; ended++) {
      await next();
      expect(ends.length).toBe(Math.min(ended + LIMIT, 50));
      ends[ended]?.(true);
    }
    expect(await results).toEqual(Array(50).fill(true));
  });

  test("are refused as soon as none of those before can free capacity", async () => {
    const { ends, results } = begin(10);
    for (let ended = 0; ended < LIMIT; ended++) {
      await next();
      expect(ends.length).toBe(LIMIT);
      ends[ended]?.(false);
    }
    expect(await results).toEqual([false, false, false, ...Array(7).fill("rate_limited")]);
  });

  test("after failures take the remaining capacity", async () => {
    const { ends, results } = begin(6);
    await next();
    ends[0]?.(false);
    ends[1]?.(false);
    for (let ended = 2; ended < 6; ended++) {
      await next();
      expect(ends.length).toBe(ended + 1);
      ends[ended]?.(true);
    }
    expect(await results).toEqual([false, false, true, true, true, true]);
  });
});
