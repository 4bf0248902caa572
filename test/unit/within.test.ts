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
