import { describe, expect, test } from "@jest/globals";
import { Attempts } from "../../services/identity/auth/attempts.ts";

const limited = expect.objectContaining({
  type: "rate_limited",
  code: 429,
  data: { retry_after_seconds: expect.any(Number), limit: 3, window_seconds: 60 },
});

function fault(run: () => void): unknown {
  try {
    run();
    return null;
  } catch (err) {
    return err;
  }
}

describe("Attempts", () => {
  test("failures are limited per key for a minute", () => {
    const attempts = new Attempts(3);
    for (let i = 0; i < 3; i++) attempts.begin(["a"], 1000);
    expect(fault(() => attempts.begin(["a"], 31_000))).toEqual(limited);
    expect(fault(() => attempts.begin(["a"], 31_000))).toMatchObject({ data: { retry_after_seconds: 30 } });
    attempts.begin(["b"], 31_000);
    attempts.begin(["a"], 61_000);
  });

  test("successes do not count, however many", () => {
    const attempts = new Attempts(3);
    for (let i = 0; i < 100; i++) {
      attempts.begin(["a"], 0);
      attempts.succeeded(["a"]);
    }
    expect(fault(() => attempts.begin(["a"], 0))).toBeNull();
  });

  test("attempts that have not ended count", () => {
    const attempts = new Attempts(3);
    const results = Array.from({ length: 10 }, () => fault(() => attempts.begin(["a"], 0)));
    expect(results.filter((result) => result === null)).toHaveLength(3);
  });

  test("any full key refuses, and a refused attempt takes nothing from the others", () => {
    const attempts = new Attempts(3);
    for (let i = 0; i < 3; i++) attempts.begin(["account"], 0);
    for (let i = 0; i < 5; i++)
      expect(fault(() => attempts.begin(["address", "account"], 0))).toEqual(limited);
    for (let i = 0; i < 3; i++) attempts.begin(["address"], 0);
    expect(fault(() => attempts.begin(["address"], 0))).toEqual(limited);
  });

  test("0 is no limit", () => {
    const attempts = new Attempts(0);
    for (let i = 0; i < 1000; i++) attempts.begin(["a"], 0);
  });

  test("what it keeps is bounded", () => {
    const attempts = new Attempts(1);
    for (let i = 0; i < 100_000; i++) attempts.begin([`address ${i}`], i < 50_000 ? 0 : 59_000);
    expect(fault(() => attempts.begin(["address 99999"], 59_001))).not.toBeNull();
    // The first half has ended and makes room; the second half is still counted.
    attempts.begin(["one more"], 60_001);
    expect(fault(() => attempts.begin(["address 99999"], 60_002))).not.toBeNull();
    attempts.begin(["address 1"], 60_002);
  });
});
