import { expect, test } from "@jest/globals";
import { readEach } from "../../storage/commands.ts";

test("absent rows are read in few batches", async () => {
  let reads = 0;
  const rows = {
    find: () => {
      reads++;
      return { toArray: async () => [] };
    },
  };
  const ids = Array.from({ length: 2000 }, (_, n) => `mem_${n}`);
  for (const bytes of [1000, Number.POSITIVE_INFINITY]) {
    reads = 0;
    expect(await readEach(rows as never, ids, { filter: {}, bytes })).toEqual({ rows: [], more: false });
    expect(reads).toBeLessThan(10);
  }
});

test("of rows that are known to be large no more are read than returned", async () => {
  const batches: number[] = [];
  let length = 1_000;
  const find = ({ _id: { $in: ids } }: { _id: { $in: string[] } }) => {
    batches.push(ids.length);
    return { toArray: async () => ids.map((_id) => ({ _id, text: "x".repeat(length) })) };
  };
  const rows = { find };
  const ids = Array.from({ length: 20 }, (_, n) => `run_${n}`);
  const read = async () => (await readEach(rows as never, ids, { filter: {}, bytes: 2_500 })).rows.length;
  const ofEach = async () => [await read(), batches.splice(0)];
  expect([await ofEach(), await ofEach()]).toEqual([
    [2, [8]],
    [2, [2, 1]],
  ]);
  length = 10;
  for (let n = 0; n < 60; n++) await ofEach();
  expect(await ofEach()).toEqual([20, [8, 12]]);
});
