import { expect, test } from "@jest/globals";
import { noteChange, RECENT, RECENT_SECONDS, recentOf, tally } from "../../services/platform/usage/tally.ts";

const COUNT_MS = RECENT_SECONDS * 1000;
const NOW = 1_700_000_000_000;
const nowOf = (counts: number[]) => counts.at(-1);

test("counts by tenant and by what was done, in the count that runs", () => {
  tally({ tenant_id: "tn_a" }, "published", 2, NOW);
  tally({ tenant_id: "tn_a" }, "published", 1, NOW);
  tally({ tenant_id: "tn_a" }, "acknowledged", 5, NOW);
  tally({ tenant_id: "tn_b" }, "delivered", 4, NOW);
  expect(RECENT.map((what) => nowOf(recentOf("tn_a", NOW)[what]))).toEqual([3, 0, 5]);
  expect(RECENT.map((what) => nowOf(recentOf("tn_b", NOW)[what]))).toEqual([0, 4, 0]);
});

test("older counts move along, and are gone after a quarter of an hour", () => {
  tally({ tenant_id: "tn_c" }, "delivered", 7, NOW);
  tally({ tenant_id: "tn_c" }, "delivered", 1, NOW + 2 * COUNT_MS);
  const { delivered } = recentOf("tn_c", NOW + 3 * COUNT_MS);
  expect(delivered.slice(-4)).toEqual([7, 0, 1, 0]);
  expect(delivered).toHaveLength(900 / RECENT_SECONDS);
  expect(recentOf("tn_c", NOW + 900_000 + COUNT_MS).delivered.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(recentOf("tn_c", NOW + 3_600_000).delivered).toEqual(new Array(900 / RECENT_SECONDS).fill(0));
});

test("a clock that goes back counts into the newest", () => {
  tally({ tenant_id: "tn_d" }, "published", 1, NOW);
  tally({ tenant_id: "tn_d" }, "published", 1, NOW - COUNT_MS);
  expect(recentOf("tn_d", NOW).published.slice(-2)).toEqual([0, 2]);
});

test("of a tenant for which nothing was done everything is 0", () =>
  expect(recentOf("tn_none", NOW).published).toEqual(new Array(900 / RECENT_SECONDS).fill(0)));

test("every count is a change, and so is what no count shows", () => {
  const changes = () => recentOf("tn_e", NOW).changes;
  expect(changes()).toBe(0);
  tally({ tenant_id: "tn_e" }, "failed", 2, NOW);
  tally({ tenant_id: "tn_e" }, "created", 0, NOW);
  expect(changes()).toBe(1);
  noteChange("tn_e", NOW);
  expect(changes()).toBe(2);
});
