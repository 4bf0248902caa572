import { describe, expect, test } from "@jest/globals";
import { outcomeOf, retryAfter } from "../../connectors/push-sender.ts";
import { opened, parkedTooLong } from "../../services/sense/push/push-worker.ts";

const PARKED_MS = 24 * 3_600_000;

const answered = (status: number, retry_after_seconds: number | null = null) =>
  ({ kind: "answered", status, retry_after_seconds }) as const;

describe("what follows from an attempt", () => {
  test.each([200, 201, 202, 204, 299])("%i acknowledges", (status) =>
    expect(outcomeOf(answered(status))).toEqual({ do: "acknowledge" }),
  );

  test("410 stops", () => expect(outcomeOf(answered(410))).toEqual({ do: "stop" }));

  test.each([301, 302, 307, 400, 404, 429, 500, 503])("%i is retried by the receiver's delays", (status) =>
    expect(outcomeOf(answered(status))).toEqual({
      ...{ do: "retry", delay_seconds: null, reason: `the endpoint responded with ${status}` },
    }),
  );

  test("Retry-After replaces them, and is at most a day", () => {
    expect(outcomeOf(answered(429, 7))).toMatchObject({ do: "retry", delay_seconds: 7 });
    expect(outcomeOf(answered(503, 1e9))).toMatchObject({ delay_seconds: 86_400 });
  });

  test("what could not be reached is parked, what failed otherwise is retried", () => {
    const unreachable = { kind: "unreachable", reason: "ECONNREFUSED" } as const;
    expect(outcomeOf(unreachable)).toEqual({ do: "park", reason: "ECONNREFUSED" });
    expect(outcomeOf({ kind: "failed", reason: "no response within 15 s" })).toMatchObject({
      do: "retry",
      reason: "no response within 15 s",
    });
    expect(outcomeOf({ kind: "aborted" })).toEqual({ do: "release" });
  });
});

test("Retry-After is read as seconds and as a date", () => {
  const now = Date.parse("2026-01-31T09:30:00Z");
  expect(retryAfter("120", now)).toBe(120);
  expect(retryAfter("Sat, 31 Jan 2026 09:30:30 GMT", now)).toBe(30);
});

test("a Retry-After that asks for no wait is none", () => {
  const now = Date.parse("2026-01-31T09:30:00Z");
  const none = [undefined, "soon", "", "0", "-5", "Sat, 31 Jan 2026 09:00:00 GMT"];
  expect(none.map((value) => retryAfter(value, now))).toEqual(none.map(() => null));
});

describe("breaker", () => {
  test("probes at growing intervals, up to an hour", () => {
    let breaker = opened(null, 0, "ECONNREFUSED");
    const waits = [breaker.next_probe_at.getTime()];
    for (let i = 0; i < 12; i++) {
      const at = breaker.next_probe_at.getTime();
      breaker = opened(breaker, at, "ENOTFOUND");
      waits.push(breaker.next_probe_at.getTime() - at);
    }
    const minute = 60_000;
    expect(waits.slice(0, 5)).toEqual([5000, 10_000, 20_000, 40_000, 80_000]);
    expect(waits.slice(-2)).toEqual([60 * minute, 60 * minute]);
    expect(breaker).toMatchObject({ opened_at: new Date(0), probes: 12, last_error: "ENOTFOUND" });
  });

  test("gives up what has waited a day, and only after a day", () => {
    const breaker = opened(null, 1000, "ECONNREFUSED");
    expect(parkedTooLong(breaker, 1000 + PARKED_MS - 1)).toBeNull();
    expect(parkedTooLong(breaker, 1000 + PARKED_MS)).toBe(1000);
    expect(parkedTooLong(breaker, 5000 + PARKED_MS)).toBe(5000);
  });
});
