import { expect, test } from "@jest/globals";
import { Batcher } from "../../lib/queue/batcher.ts";

function recording(maxItems: number, maxWeight: number) {
  const flushed: number[][] = [];
  const batcher = new Batcher<number, number>({
    async flush(items) {
      flushed.push(items);
      if (items.includes(13)) throw new Error("unlucky");
      return items.map((item) => item * 2);
    },
    weight: (item) => item,
    maxItems,
    maxWeight,
  });
  return { batcher, flushed };
}

test("what is added in one turn is flushed together, each caller with its own results", async () => {
  const { batcher, flushed } = recording(100, 1000);
  const results = await Promise.all([batcher.add([1, 2]), batcher.add([3]), batcher.add([4, 5])]);
  expect(results).toEqual([[2, 4], [6], [8, 10]]);
  expect(flushed).toEqual([[1, 2, 3, 4, 5]]);
});

test("a flush is bounded by items and by weight, and a group is never torn apart", async () => {
  const byItems = recording(3, 1000);
  await Promise.all([[1, 2], [3, 4], [5], [6, 7, 8, 9]].map((group) => byItems.batcher.add(group)));
  expect(byItems.flushed).toEqual([
    [1, 2],
    [3, 4, 5],
    [6, 7, 8, 9],
  ]);
  const byWeight = recording(100, 10);
  await Promise.all([[4], [5], [50], [1]].map((group) => byWeight.batcher.add(group)));
  expect(byWeight.flushed).toEqual([[4, 5], [50], [1]]);
});

test("a flush that fails fails those who were in it, and nobody else", async () => {
  const { batcher } = recording(1, 1000);
  const settled = await Promise.allSettled([batcher.add([1]), batcher.add([13]), batcher.add([2])]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
