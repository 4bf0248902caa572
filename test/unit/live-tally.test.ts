import { expect, test } from "@jest/globals";
import { TALLIED, TALLY_SECONDS, tallyLive, tallyOf } from "../../storage/traffic/live-tally.ts";

const COUNT_MS = TALLY_SECONDS * 1000;
const NOW = 1_700_000_000_000;
const nowOf = (counts: number[]) => counts.at(-1);

test("counts by tenant and by what was done, in the count that runs", () => {
  tallyLive("tn_a", "published", 2, NOW);
  tallyLive("tn_a", "published", 1, NOW);
  tallyLive("tn_a", "acknowledged", 5, NOW);
  tallyLive("tn_b", "delivered", 4, NOW);
  expect(TALLIED.map((what) => nowOf(tallyOf("tn_a", NOW)[what]))).toEqual([3, 0, 5]);
  expect(TALLIED.map((what) => nowOf(tallyOf("tn_b", NOW)[what]))).toEqual([0, 4, 0]);
});

test("older counts move along, and are gone after a quarter of an hour", () => {
  tallyLive("tn_c", "delivered", 7, NOW);
  tallyLive("tn_c", "delivered", 1, NOW + 2 * COUNT_MS);
  const { delivered } = tallyOf("tn_c", NOW + 3 * COUNT_MS);
  expect(delivered.slice(-4)).toEqual([7, 0, 1, 0]);
  expect(delivered).toHaveLength(900 / TALLY_SECONDS);
  const later = tallyOf("tn_c", NOW + 900_000 + COUNT_MS).delivered;
  expect(later.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(tallyOf("tn_c", NOW + 3_600_000).delivered).toEqual(new Array(900 / TALLY_SECONDS).fill(0));
});

test("a clock that goes back counts into the newest", () => {
  tallyLive("tn_d", "published", 1, NOW);
  tallyLive("tn_d", "published", 1, NOW - COUNT_MS);
  expect(tallyOf("tn_d", NOW).published.slice(-2)).toEqual([0, 2]);
});

test("of a tenant for which nothing was done everything is 0", () => {
  expect(tallyOf("tn_none", NOW).published).toEqual(new Array(900 / TALLY_SECONDS).fill(0));
});
