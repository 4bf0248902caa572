import { describe, expect, test } from "@jest/globals";
import { FilterAccount, FilterAllowance, isCostly } from "../../services/sense/interests/filter-allowance.ts";
import { MatchIndex } from "../../services/sense/interests/match-index.ts";

/** The maximum cost of an evaluation (lib/filter/cost.ts). */
const WORST = 50_000;
const SECOND = 1_000;

/** Charges a filter again and again, every `every` ms from `start`, until it is suspended. */
function chargeUntilSuspended(
  allowance: FilterAllowance,
  account: FilterAccount,
  start: number,
  every: number,
) {
  for (let n = 1; n <= 10_000; n++) {
    const now = start + n * every;
    if (allowance.charge(account, WORST, now)) return { evaluations: n, now };
  }
  throw new Error("it was never suspended");
}

describe("a filter that always takes all it may", () => {
  test("is suspended after some evaluations", () => {
    const account = new FilterAccount();
    const { evaluations, now } = chargeUntilSuspended(new FilterAllowance(), account, 0, 2);
    expect(evaluations).toBeGreaterThan(5);
    expect(evaluations).toBeLessThan(20);
    expect(account.suspendedUntil).toBe(now + 10 * SECOND);
  });

  test("is suspended after one when it comes back, and twice as long each time, to ten minutes", () => {
    const account = new FilterAccount();
    const allowance = new FilterAllowance();
    let { now } = chargeUntilSuspended(allowance, account, 0, 2);
    const lengths: number[] = [];
    for (let time = 0; time < 8; time++) {
      const again = chargeUntilSuspended(allowance, account, account.suspendedUntil, 2);
      expect(again.evaluations).toBe(1);
      now = again.now;
      lengths.push((account.suspendedUntil - now) / SECOND);
    }
    expect(lengths).toEqual([20, 40, 80, 160, 320, 600, 600, 600]);
  });

  test("is not suspended at a rate that hurts nobody", () => {
    const account = new FilterAccount();
    const allowance = new FilterAllowance();
    for (let n = 0; n < 10_000; n++) expect(allowance.charge(account, WORST, n * SECOND)).toBe(false);
  });
});

test("a filter that behaves for as long as it was suspended is trusted again", () => {
  const account = new FilterAccount();
  const allowance = new FilterAllowance();
  chargeUntilSuspended(allowance, account, 0, 2);
  const trusted = account.suspendedUntil + 11 * SECOND;
  const { evaluations } = chargeUntilSuspended(allowance, account, trusted, 2);
  expect(evaluations).toBeGreaterThan(5);
  expect(account.suspensionMs).toBe(10 * SECOND);
});

test("the costliest is suspended, and those that share its tenant are not", () => {
  const allowance = new FilterAllowance();
  const [hostile, honest] = [new FilterAccount(), new FilterAccount()];
  for (let now = 0; now < 5 * SECOND; now += 2) {
    if (hostile.suspendedUntil <= now) allowance.charge(hostile, WORST, now);
    allowance.charge(honest, 2_000, now);
  }
  expect(hostile.suspendedUntil).toBeGreaterThan(0);
  expect(honest.suspendedUntil).toBe(0);
});

test("one that takes a tenth as much may do so more than ten times as often", () => {
  const account = new FilterAccount();
  const allowance = new FilterAllowance();
  for (let n = 1; n <= 1_000; n++) expect(allowance.charge(account, WORST / 10, n)).toBe(false);
});

test("many that are each modest are suspended one by one, until the rest fits", () => {
  const allowance = new FilterAllowance();
  const accounts = Array.from({ length: 40 }, () => new FilterAccount());
  for (let now = 0; now < 10 * SECOND; now += 100) {
    for (const account of accounts) if (account.suspendedUntil <= now) allowance.charge(account, 10_000, now);
  }
  // 40 × 10 × 25,000 units a second are eight times what there is.
  const awake = accounts.filter(({ suspendedUntil }) => suspendedUntil === 0).length;
  expect(awake).toBeGreaterThan(0);
  expect(awake).toBeLessThan(25);
});

test("an everyday filter is not counted at all", () => {
  expect(isCostly(100)).toBe(false);
  expect(isCostly(5_000)).toBe(true);
});

describe("in the index of a tenant", () => {
  const ten = "[0,1,2,3,4,5,6,7,8,9]";
  const hostile = `${ten}.all(a, ${ten}.all(b, ${ten}.all(c, ${ten}.all(d, ${ten}.all(e, a >= 0)))))`;
  const event = { type: "com.x", data: { n: 1 } };
  const interest = (id: string, filter: string) => ({
    ...{ id, kind: "interest" as const, agent_id: id, glob: "com.*", filter, priority: 5 },
  });

  test("a suspended filter counts as an error and is not evaluated; the others go on", async () => {
    let now = 0;
    const index = new MatchIndex([interest("bad", hostile), interest("good", "data.n == 1")], () => now);
    const results = [];
    for (let n = 0; n < 400; n++) {
      now += 2;
      results.push(await index.match(event));
    }
    expect(results.filter(({ suspended }) => suspended > 0)).toHaveLength(1);
    expect(index.suspendedFor("bad")).toBeGreaterThan(0);
    expect(index.suspendedFor("good")).toBe(0);
    const after = await index.match(event);
    expect(after).toMatchObject({ errors: 1, suspended: 0 });
    expect(after.matched.map(({ id }) => id)).toEqual(["good"]);
    now += 10 * SECOND;
    expect(index.suspendedFor("bad")).toBe(0);
  });
});
