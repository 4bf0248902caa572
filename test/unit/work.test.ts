import { afterEach, expect, jest, test } from "@jest/globals";
import {
  ALLOWANCE,
  apart,
  asBackground,
  asWork,
  countRead,
  inTurn,
  measured,
  spend,
  turns,
} from "../../lib/queue/work.ts";
import { unchecked } from "../../services/runtime.ts";

const MB = 1_048_576;
let names = 0;
/** A share, and an operation that nothing is known of. */
const newCaller = (tenant_id = `tn_${++names}`) => ({ tenant_id, caller: `ag_${++names}` });

afterEach(() => {
  jest.restoreAllMocks();
});

/** Begins calls that each take one step of another length; returns how many steps run at once. */
async function countAtOnce(share: ReturnType<typeof newCaller>, action: string, calls: number, cost = 0) {
  let now = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: calls }, () =>
      asWork(share, action, async () => {
        spend(cost);
        await inTurn(async () => {
          most = Math.max(most, ++now);
          await new Promise(setImmediate);
          now--;
        });
      }),
    ),
  );
  return most;
}

test("steps of cheap calls run at once, those of dear ones in turn", async () => {
  const share = newCaller();
  await countAtOnce(share, "things.cheap", 1);
  expect(await countAtOnce(share, "things.cheap", 20)).toBe(20);
  expect(await countAtOnce(share, "things.dear", 20, 6)).toBe(2);
});

test("before a call has ended, only a few of its kind run freely", async () =>
  expect(await countAtOnce(newCaller(), "things.unknown", 20)).toBeLessThanOrEqual(6));

test("a dear call makes later ones of its kind wait, until many were cheap; other tenants' do not", async () => {
  const share = newCaller();
  await asWork(share, "things.read", async () => spend(20));
  expect(await countAtOnce(share, "things.read", 10)).toBe(2);
  await countAtOnce(newCaller(), "things.read", 1);
  const other = newCaller();
  await countAtOnce(other, "things.read", 1);
  expect(await countAtOnce(other, "things.read", 10)).toBe(10);
  for (let i = 0; i < 40; i++) await countAtOnce(share, "things.read", 1);
  expect(await countAtOnce(share, "things.read", 10)).toBe(10);
});

test("of many dear calls, the one that began first ends first, however many steps they take", async () => {
  const share = newCaller();
  const ended: number[] = [];
  let steps = 0;
  await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      asWork(share, "things.long", async () => {
        spend(6);
        for (let step = 0; step < 10; step++)
          await inTurn(async () => {
            steps++;
            await new Promise(setImmediate);
          });
        // Two run at a time.
        expect(steps).toBeLessThanOrEqual(10 * (n + 2));
        ended.push(n);
      }),
    ),
  );
  expect(ended).toEqual(Array.from({ length: 12 }, (_, n) => n));
});

test("calls within a call are part of it", async () => {
  const share = newCaller();
  await asWork(share, "things.outer", () => asWork(newCaller(), "things.inner", async () => spend(9)));
  expect(await countAtOnce(share, "things.outer", 10)).toBe(2);
});

test("dear background work takes turns like calls, and is never refused", async () => {
  const { tenant_id } = newCaller();
  let [now, most, ended] = [0, 0, 0];
  const unit = () =>
    asBackground(tenant_id, "things", async () => {
      countRead(ALLOWANCE + 1);
      await inTurn(async () => {
        most = Math.max(most, ++now);
        await new Promise(setImmediate);
        now--;
      });
      ended++;
    });
  // More than may wait of one caller.
  const flood = Promise.all(Array.from({ length: 1_500 }, unit));
  const other = newCaller();
  await asBackground(other.tenant_id, "things", async () => {
    spend(20);
    await inTurn(async () => {});
  });
  expect(ended).toBeLessThan(20);
  await flood;
  expect([most, ended]).toEqual([2, 1_500]);
});

test("no call reads more than its allowance, and its memory is given back", async () => {
  const share = newCaller();
  const read = (bytes: number) => asWork(share, "things.list", async () => countRead(bytes));
  await expect(read(ALLOWANCE + 1)).rejects.toMatchObject({
    type: "business_rule_violation",
    data: { rule: "answer_too_large" },
  });
  // One after the other, far more than all may hold at once.
  for (let i = 0; i < 20; i++) await read(30 * MB);
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = [1, 2].map(() =>
    asWork(share, "things.list", async () => {
      countRead(32 * MB);
      await promise;
    }),
  );
  await expect(read(MB)).rejects.toMatchObject({ type: "rate_limited" });
  await asWork(newCaller(), "things.list", async () => countRead(MB));
  resolve();
  await Promise.all(holding);
  await read(MB);
});

test("what a call sets off is no part of it: once it has ended, or apart from it", async () => {
  const share = newCaller();
  const { promise, resolve } = Promise.withResolvers<void>();
  let after: Promise<void> | undefined;
  await asWork(share, "things.nudge", async () => {
    after = promise.then(() => countRead(ALLOWANCE + 1));
    apart(() => countRead(ALLOWANCE + 1));
    spend(1);
  });
  resolve();
  await after;
  expect(await countAtOnce(share, "things.nudge", 10)).toBe(10);
});

test("what fails is counted too, and holds no place", async () => {
  const share = newCaller();
  const fail = () => {
    throw new Error("failed");
  };
  expect(() => asWork(share, "things.fail", fail)).toThrow("failed");
  await expect(asWork(share, "things.fail", async () => inTurn(async () => fail()))).rejects.toThrow(
    "failed",
  );
  expect(await countAtOnce(share, "things.fail", 10)).toBe(10);
  await new Promise(setImmediate);
  expect([turns.inUse, turns.waiting]).toEqual([0, 0]);
});

test("measures what cannot be divided", async () => {
  const share = newCaller();
  const clock = jest.spyOn(performance, "now").mockReturnValue(0);
  const long = () => void clock.mockReturnValue(7);
  await asWork(share, "things.digest", async () => measured(long));
  jest.restoreAllMocks();
  expect(await countAtOnce(share, "things.digest", 10)).toBe(2);
});

/** Takes a long step, and begins another; returns whether that began at once. */
async function goesOn(run: (call: () => Promise<void>) => Promise<void>): Promise<boolean> {
  let isBegun = false;
  const step = (task: () => void) =>
    run(async () => {
      spend(6);
      await inTurn(async () => task());
    });
  await step(() => spend(250));
  await new Promise(setImmediate);
  void step(() => {
    isBegun = true;
  });
  for (let tick = 0; tick < 3; tick++) await new Promise(setImmediate);
  return isBegun;
}

test("a tenant rests after long steps, unless nobody else is served or they are background work", async () => {
  const [share, other] = [newCaller(), newCaller()];
  const asCall = (call: () => Promise<void>) => asWork(share, "things.long", call);
  const asUnit = (call: () => Promise<void>) => asBackground(share.tenant_id, "things", call);
  const { handler } = unchecked(async () => {}) as { handler(ctx: object): Promise<void> };
  const serve = () => handler({ meta: { caller: other } });
  const later = performance.now() + 2000;

  await asCall(async () => {});
  jest.spyOn(performance, "now").mockReturnValue(later);
  expect(await goesOn(asCall)).toBe(true);
  await serve();
  expect(await goesOn(asCall)).toBe(false);
  expect(await goesOn(asUnit)).toBe(true);
  expect(await countAtOnce(other, "things.dear", 20, 6)).toBe(2);
});
