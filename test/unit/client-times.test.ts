import { expect, test } from "@jest/globals";
import { parseTime } from "../../packages/client/cli/times.ts";

test.each([
  ["2031-06-01T08:15:00+02:00", "2031-06-01T06:15:00.000Z"],
  ["2031-06-01t08:15:00.25z", "2031-06-01T08:15:00.250Z"],
  ["2031-06-01 08:15-03:30", "2031-06-01T11:45:00.000Z"],
  ["2032-02-29 08:15", new Date(2032, 1, 29, 8, 15).toISOString()],
  ["2032-02-29", new Date(2032, 1, 29).toISOString()],
  ["2031-06-01T08:15:30", new Date(2031, 5, 1, 8, 15, 30).toISOString()],
])("the time %s is %s", (typed, time) => expect(parseTime("at", typed)).toBe(time));
