import { expect, test } from "@jest/globals";
import { Fault } from "../../lib/contract/faults.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { CredentialGuard } from "../../services/edge/gateway/guards.ts";
import type { HttpExchange } from "../../services/edge/gateway/http-exchange.ts";

const LIMIT = 3;
const AT_ONCE = 4;
const limited = (limit = LIMIT) => ({ type: "rate_limited", code: 429, data: { limit, window_seconds: 60 } });

const next = () => new Promise((resolve) => setImmediate(resolve));
const guardOf = (limit: number) =>
  new CredentialGuard(
    { LOGIN_ATTEMPTS_PER_MINUTE: limit, PUBLIC_FAILURES_PER_MINUTE: limit, PUBLIC_URL: null },
    new SecretBox(Buffer.alloc(32, 1)),
    null,
  );
const exchange = (ip: string, caller: unknown = null) =>
  ({ ctx: { meta: { ip } }, req: { headers: {} }, caller }) as unknown as HttpExchange;
const wrong = new Fault("authentication_failed", "wrong");

/** Tries of accounts from addresses, on one guard. */
function tries(limit = LIMIT) {
  const guard = guardOf(limit);
  const run = (email: string, ip: string, outcome: () => Promise<unknown>) =>
    guard.try(exchange(ip), { email }, outcome).catch((err) => err);
  return {
    fail: (email: string, ip: string, fault = wrong) => run(email, ip, () => Promise.reject(fault)),
    succeed: (email: string, ip: string) => run(email, ip, async () => "in"),
  };
}

test("so many tries of an account may fail from an address; no other account or address has to wait", async () => {
  const { fail, succeed } = tries();
  for (let i = 0; i < LIMIT; i++) expect(await fail("ada@a.example", "192.0.2.1")).toBe(wrong);
  expect(await fail("ada@a.example", "192.0.2.1")).toMatchObject(limited());
  expect(await succeed("Ada@a.example", "192.0.2.1")).toMatchObject(limited());
  expect(await succeed("ada@a.example", "192.0.2.2")).toBe("in");
  expect(await succeed("bob@a.example", "192.0.2.1")).toBe("in");
});

test("an address may fail with ten times as many, whatever the accounts", async () => {
  const { fail, succeed } = tries();
  for (let i = 0; i < 10 * LIMIT; i++) expect(await fail(`${i}@a.example`, "192.0.2.1")).toBe(wrong);
  expect(await succeed("ada@a.example", "192.0.2.1")).toMatchObject(limited(10 * LIMIT));
  expect(await succeed("ada@a.example", "192.0.2.2")).toBe("in");
});

test.each([
  new Fault("totp_required", "half of it is right"),
  new Fault("rate_limited", "not tried"),
  new Fault("conflict", "too early"),
  new Fault("service_unavailable", "not checked"),
  new Fault("authentication_failed", "right", { reason: "suspended" }),
])("what is no wrong credential does not count, and neither do successes: %s", async (fault) => {
  const { fail, succeed } = tries();
  for (let i = 0; i < 20; i++) expect(await fail("ada@a.example", "192.0.2.1", fault)).toBe(fault);
  for (let i = 0; i < 20; i++) expect(await succeed("ada@a.example", "192.0.2.1")).toBe("in");
});

test("tries are not limited by 0", async () => {
  const { fail } = tries(0);
  for (let i = 0; i < 50; i++) expect(await fail("ada@a.example", "192.0.2.1")).toBe(wrong);
});

/** Tries of an account that begin at once and end on request. */
function begin(count: number, limit: number) {
  const guard = guardOf(limit);
  const ends: ((succeeded: boolean) => void)[] = [];
  const check = () =>
    new Promise((resolve, reject) => ends.push((succeeded) => (succeeded ? resolve("in") : reject(wrong))));
  const run = () =>
    guard.try(exchange("192.0.2.1"), { email: "ada@a.example" }, check).catch((err) => err.type);
  return { ends, results: Promise.all(Array.from({ length: count }, run)) };
}

test("tries of an address are checked four at a time, and are all admitted while they succeed", async () => {
  const { ends, results } = begin(50, LIMIT * 2);
  for (let ended = 0; ended < 50; ended++) {
    await next();
    expect(ends.length).toBe(Math.min(ended + AT_ONCE, 50));
    ends[ended]?.(true);
  }
  expect(await results).toEqual(Array(50).fill("in"));
});

test("tries that begin at once fail no more often than others", async () => {
  const { ends, results } = begin(10, LIMIT * 2);
  for (let ended = 0; ended < LIMIT * 2; ended++) {
    await next();
    ends[ended]?.(false);
  }
  const failed = Array(LIMIT * 2).fill("authentication_failed");
  expect(await results).toEqual([...failed, ...Array(4).fill("rate_limited")]);
});
