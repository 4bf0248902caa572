import { expect, test } from "@jest/globals";
import { place } from "../../mixins/queue.ts";

test("places of a lane sort by when they are due, also by fractions of a millisecond", () => {
  const now = Date.UTC(2026, 0, 31);
  const dues = [now, now + 0.25, now + 4800.7, now + 15_000, now + 30_000.1];
  const places = dues.map((due) => place("tn_a", due, "ag_a"));
  expect([...places].sort()).toEqual(places);
});
