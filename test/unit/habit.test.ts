import { expect, test } from "@jest/globals";
import type { Absence } from "../../services/sense/deliveries/health/progress.model.ts";
import { addAbsence, usualAbsence } from "../../services/sense/deliveries/health/progress.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse("2026-03-01T09:00:00Z");

/** Returns what is known after absences, each with its end in days after the start and its length in hours. */
const after = (...absences: [day: number, hours: number][]) =>
  absences.reduce<Absence[]>((known, [day, hours]) => addAbsence(known, hours * HOUR, START + day * DAY), []);
/** The same, as `day:hours`. */
const read = (text: string) =>
  (text.match(/\S+/g) ?? []).map((each) => each.split(":").map(Number) as [number, number]);

test.each([
  ["never was away", "", 0, 0],
  ["was away once", "1:24", 1, 0],
  ["was away on two days", "1:24 2:23", 2, 23],
  ["was away twice on one day", "1:3 1.1:2", 1.1, 0],
  ["had one outage besides", "1:0.5 2:48 3:0.25", 3, 0.5],
  ["works on weekdays", "1:16 4:64 5:16 8:16 11:64", 11, 64],
  ["comes once a week", "0:168 7:168", 14, 168],
  ["has changed its ways two weeks ago", "0:48 1:48", 15, 0],
])("an agent that %s", (_, absences, day, hours) =>
  expect(usualAbsence(after(...read(absences)), START + day * DAY)).toBe(hours * HOUR),
);

test("one absence a day is kept, for two weeks", () => {
  const everyHour = Array.from({ length: 24 * 40 }, (_, hour): [number, number] => [hour / 24, 1]);
  expect(after(...everyHour).length).toBe(15);
});
