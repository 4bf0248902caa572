import { describe, expect, test } from "@jest/globals";
import { type Quantised, quantise, VectorMemory } from "../../storage/search/vector-memory.ts";
import { VectorTable } from "../../storage/search/vectors.ts";
import { cosine } from "../suites/search/samples.ts";

const DIMS = 64;
/** More than are all compared. */
const MANY = 12_000;

/** Vectors that point anywhere, the same ones every time. */
function vectors(count: number): Float32Array[] {
  let seed = 7;
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  return Array.from({ length: count }, () => Float32Array.from({ length: DIMS }, next));
}

function tableOf(all: readonly Float32Array[]): VectorTable {
  const memory = new VectorMemory(DIMS);
  const table = new VectorTable(memory);
  for (const [row, vector] of all.entries()) table.set(row, quantise(vector, DIMS));
  return table;
}

/** The one, and a little of the other. */
function near(one: Float32Array, other: Float32Array, share: number): Float32Array {
  return one.map((x, i) => x + share * (other[i] as number));
}

describe.each([
  ["all are compared", 3001],
  ["their signs are compared first", MANY],
])("when %s", (_, count) => {
  const all = vectors(count);
  const asked = vectors(count + 1)[count] as Float32Array;
  // The nearest ones are spread over the table.
  const alike = [5, 1700, count - 1];
  for (const [i, row] of alike.entries()) all[row] = near(asked, all[row] as Float32Array, 0.1 + i / 10);
  const table = tableOf(all);
  const allowed = new Uint8Array(count).fill(1);

  test("the nearest are found, best first, and those counted that were there to be found", () => {
    table.ask(asked);
    const { rows, matched } = table.best(allowed, 3);
    expect([rows, matched]).toEqual([alike, count]);
  });

  test("a cosine is within a hundredth of what it is", () => {
    table.ask(asked);
    for (const row of [0, 5, 64, 1700, count - 1])
      expect(table.cosine(row)).toBeCloseTo(cosine(asked, all[row] as Float32Array), 2);
  });

  test("what is not allowed is not found, and not counted", () => {
    const without = allowed.map((_, row) => (row === 5 || row === 1700 || row % 7 === 3 ? 0 : 1));
    table.ask(asked);
    const { rows, matched } = table.best(without, 1);
    expect(rows).toEqual([count - 1]);
    expect(matched).toBe(without.reduce((sum, each) => sum + each, 0));
  });

  test("near-duplicates are all that are as near", () => {
    table.ask(asked);
    const found = table.near(0.95);
    const cosines = all.map((each) => cosine(asked, each));
    expect(found.map(({ row }) => row)).toEqual(
      [...cosines.keys()].filter((row) => (cosines[row] as number) >= 0.95),
    );
    expect(found.length).toBeGreaterThan(1);
  });

  test("a removed vector is neither found nor compared, until there is another", () => {
    const kept = table.get(5) as Quantised;
    table.remove(5);
    table.ask(asked);
    expect([table.best(allowed, 1).rows, table.cosine(5)]).toEqual([[1700], null]);
    table.set(5, kept);
    expect(table.best(allowed, 1).rows).toEqual([5]);
  });
});
