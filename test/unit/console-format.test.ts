import { expect, test } from "@jest/globals";
import {
  clockTime,
  dateTime,
  filled,
  fullTime,
  percent,
  withoutSequences,
} from "../../packages/console/src/data/format.ts";

test("times of the day are alike everywhere: from 00:00 to 23:59", () => {
  const [first, last] = [new Date(2026, 10, 22, 0, 5, 6, 7), new Date(2026, 10, 22, 23, 59, 58, 999)];
  expect([dateTime(first), dateTime(last)]).toEqual(["Nov 22, 00:05", "Nov 22, 23:59"]);
  expect([clockTime(first), clockTime(last)]).toEqual(["00:05:06.007", "23:59:58.999"]);
  expect(fullTime(first)).toMatch(/^Sunday, November 22, 2026 at 00:05:06/);
  expect(fullTime(last)).toMatch(/ at 23:59:58/);
});

test("a share is never rounded up to all", () => {
  const shares = [0, 0.57, 0.9999, 1, null];
  expect(shares.map(percent)).toEqual(["0 %", "57 %", "99.9 %", "100 %", "–"]);
});

test("parameters without a value are left out", () => {
  expect(filled({ a: "", b: null, c: undefined, d: false, e: [], f: "x", g: ["y"], h: true })).toEqual({
    f: "x",
    g: ["y"],
    h: true,
  });
});

test("a text of a terminal loses its colours and links, and nothing else", () => {
  const sequences = [
    "[31m",
    "[1;38;5;200m",
    "[2K",
    "[?25l",
    "(B",
    "]0;title\u0007",
    "]8;;https://x.example\u001b\\",
    "7",
  ];
  const text = "[ended with 0]\nB7 \u001b";
  for (const each of sequences) expect(withoutSequences(`a\u001b${each}${text}`)).toBe(`a${text}`);
});
