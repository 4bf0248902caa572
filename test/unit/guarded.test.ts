import { describe, expect, test } from "@jest/globals";
import { Guarded } from "../../services/identity/auth/guarded.ts";

const LIMIT = 3;
const next = () => new Promise((resolve) => setImmediate(resolve));
const limited = {
  type: "rate_limited",
  code: 429,
  data: { retry_after_seconds: expect.any(Number), limit: LIMIT, window_seconds: 60 },
};

const isWrong = (outcome: boolean | undefined) => outcome === false;
const fail = (guarded: Guarded, key: string) => guarded.run(key, async () => false, isWrong);
const succeed = (guarded: Guarded, key: string) => guarded.run(key, async () => true, isWrong);

/** Attempts that begin at once and end on request; each reports whether it was admitted. */
function begin(count: number) {
  const guarded = new Guarded(LIMIT, null);
  const ends: ((succeeded: boolean) => void)[] = [];
  const results = Array.from({ length: count }, () =>
    guarded
      .run("address", () => new Promise<boolean>((resolve) => ends.push(resolve)), isWrong)
      .catch((err) => err.type),
  );
  return { ends, results: Promise.all(results) };
}

describe("guarded attempts", () => {
  test("may fail so often per key", async () => {
    const guarded = new Guarded(LIMIT, null);
    for (let i = 0; i < LIMIT; i++) expect(await fail(guarded, "a")).toBe(false);
    await expect(fail(guarded, "a")).rejects.toMatchObject(limited);
    await expect(succeed(guarded, "a")).rejects.toMatchObject(limited);
    expect(await succeed(guarded, "b")).toBe(true);
  });

  test("do not count if they succeed, however many", async () => {
    const guarded = new Guarded(LIMIT, null);
    for (let i = 0; i < 100; i++) expect(await succeed(guarded, "a")).toBe(true);
    for (let i = 0; i < LIMIT; i++) expect(await fail(guarded, "a")).toBe(false);
    await expect(succeed(guarded, "a")).rejects.toMatchObject(limited);
  });

  test("count if they throw what is a failure, and not otherwise", async () => {
    const guarded = new Guarded(LIMIT, null);
    const throwing = (message: string) =>
      guarded.run(
        "a",
        async () => Promise.reject(new Error(message)),
        (_, err) => (err as Error)?.message === "wrong",
      );
    for (let i = 0; i < 5; i++) await expect(throwing("down")).rejects.toThrow("down");
    for (let i = 0; i < LIMIT; i++) await expect(throwing("wrong")).rejects.toThrow("wrong");
    await expect(throwing("down")).rejects.toMatchObject(limited);
  });

  test("are not limited by 0", async () => {
    const guarded = new Guarded(0, null);
    for (let i = 0; i < 100; i++) expect(await fail(guarded, "a")).toBe(false);
  });
});

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
