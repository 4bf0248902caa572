import { expect, test } from "@jest/globals";
import { withOtherTenants } from "../../mixins/due.ts";

type Row = { tenant_id: string; n: number };

const BATCH = 10;
const backlog = (tenant_id: string, count: number): Row[] =>
  Array.from({ length: count }, (_, n) => ({ tenant_id, n }));

/** A store that gives its rows in their order, and what is asked of it. */
function storeOf(...given: Row[]) {
  const rows = [...given];
  const asked: (string[] | undefined)[] = [];
  const find = async ({ tenant_id }: { tenant_id?: { $nin: string[] } }) => {
    asked.push(tenant_id?.$nin);
    const left = rows.filter((row) => !tenant_id?.$nin.includes(row.tenant_id));
    return { rows: left.slice(0, BATCH), more: left.length >= BATCH };
  };
  const remove = (those: Row[]) => {
    for (const row of those) rows.splice(rows.indexOf(row), 1);
  };
  return { find, asked, rows, remove };
}

const countOf = (rows: Row[], tenant_id: string) => rows.filter((row) => row.tenant_id === tenant_id).length;

test("finds rows of each other tenant behind a long backlog at once", async () => {
  const store = storeOf(...backlog("flood", 1_000), ...backlog("second", 200), ...backlog("b", 3));
  const { rows: found } = await withOtherTenants(store.find, () => 0)();
  expect(["flood", "second", "b"].map((tenant_id) => countOf(found, tenant_id))).toEqual([BATCH, BATCH, 3]);
});

test("all is found once", async () => {
  const store = storeOf(...backlog("flood", 95), ...backlog("b", 25));
  const find = withOtherTenants(store.find, () => 0);
  const seen: Row[] = [];
  for (let hasMore = true; hasMore; ) {
    const { rows, more } = await find();
    store.remove(rows);
    seen.push(...rows);
    hasMore = more;
  }
  expect([seen.length, store.rows.length]).toEqual([120, 0]);
});

test("however many tenants have backlogs, each has some found within their number of rounds", async () => {
  const floods = Array.from({ length: 40 }, (_, n) => backlog(`flood ${n}`, 1_000));
  const store = storeOf(...floods.flat(), ...backlog("b", 3));
  const find = withOtherTenants(store.find, () => 0);
  const rounds = async (tenant_id: string) => {
    for (let round = 1; ; round++) {
      const { rows } = await find();
      store.remove(rows);
      if (countOf(rows, tenant_id) > 0) return round;
    }
  };
  expect(await rounds("b")).toBeLessThanOrEqual(6);
  store.rows.push(...backlog("c", 3));
  expect(await rounds("c")).toBeLessThanOrEqual(6);
});

test("while one tenant alone has a backlog, others are looked for once a second", async () => {
  const store = storeOf(...backlog("flood", 1_000));
  let now = 0;
  const find = withOtherTenants(store.find, () => now);
  for (now = 0; now < 2_500; now += 100) expect((await find()).rows).toHaveLength(BATCH);
  expect(store.asked.filter((others) => others !== undefined)).toHaveLength(3);
  store.rows.push(...backlog("b", 2));
  now += 1_000;
  expect((await find()).rows).toHaveLength(BATCH + 2);
});

test("a batch that is not full is all there is", async () => {
  const store = storeOf(...backlog("a", 3));
  expect((await withOtherTenants(store.find)()).rows).toHaveLength(3);
  expect(store.asked).toEqual([undefined]);
});
