import { expect, test } from "@jest/globals";
import {
  bytes,
  clockTime,
  compact,
  dateTime,
  duration,
  exactDuration,
  filled,
  fullTime,
  percent,
  plural,
  relative,
  withoutSequences,
} from "../../packages/console/src/data/format.ts";
import { barsOf, meanOf, sumOf } from "../../packages/console/src/traffic/bars.ts";
import { plain } from "../../packages/console/src/ui/plain.ts";

test("times of the day are alike everywhere: from 00:00 to 23:59", () => {
  const [first, last] = [new Date(2026, 10, 22, 0, 5, 6, 7), new Date(2026, 10, 22, 23, 59, 58, 999)];
  expect([dateTime(first), dateTime(last)]).toEqual(["Nov 22, 00:05", "Nov 22, 23:59"]);
  expect([clockTime(first), clockTime(last)]).toEqual(["00:05:06.007", "23:59:58.999"]);
  expect(fullTime(first)).toMatch(/^Sunday, November 22, 2026 at 00:05:06/);
  expect(fullTime(last)).toMatch(/ at 23:59:58/);
});

test("a share is never rounded up to all", () =>
  expect([0, 0.57, 0.9999, 1, null].map(percent)).toEqual(["0 %", "57 %", "99.9 %", "100 %", "–"]));

test("a number has the unit in which it is short, rounded down where it is a time", () => {
  const seconds = [0.25, 1, 59.9, 60, 3599, 3600, 86_399, 86_400, 1_000_000];
  const durations = ["250 ms", "1 s", "59 s", "1 min", "59 min", "1 h", "23 h", "1 d", "11 d"];
  expect(seconds.map(duration)).toEqual(durations);
  const exact = [0.25, 59, 60, 61.5, 3600, 3659, 6120, 86_400, 90_000, 93_599].map(exactDuration);
  expect(exact).toEqual([
    ...["250 ms", "59 s", "1 min", "1 min 1 s", "1 h", "1 h", "1 h 42 min", "1 d", "1 d 1 h", "1 d 1 h"],
  ]);
  const sizes = [0, 999, 1000, 1_440_000, 999_000_000, 2e9, 3e12, 4e15];
  const texts = ["0 B", "999 B", "1.0 KB", "1.4 MB", "999 MB", "2.0 GB", "3.0 TB", "4000 TB"];
  expect(sizes.map(bytes)).toEqual(texts);
  expect([9.96, 9999, 12_345, 2_000_000].map(compact)).toEqual(["10", "9,999", "12.3K", "2M"]);
  expect([0, 1, 1000].map((count) => plural(count, "agent"))).toEqual([
    ...["0 agents", "1 agent", "1,000 agents"],
  ]);
});

test("a time is told from now on, to both sides", () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const ahead = [-7200, -300, -4, 4, 90, 86_400];
  const told = ahead.map((seconds) => relative(new Date(now + seconds * 1000), now));
  expect(told).toEqual(["2 h ago", "5 min ago", "now", "now", "in 1 min", "in 1 d"]);
});

test("parameters without a value are left out", () =>
  expect(filled({ a: "", b: null, c: undefined, d: false, e: [], f: "x", g: ["y"], h: true })).toEqual({
    ...{ f: "x", g: ["y"], h: true },
  }));

test("a text of a terminal loses its colours and links, and nothing else", () => {
  const sequences = [
    ...["[31m", "[1;38;5;200m", "[2K", "[?25l", "(B", "]0;title\u0007", "]8;;https://x.example\u001b\\", "7"],
  ];
  const text = "[ended with 0]\nB7 \u001b";
  for (const each of sequences) expect(withoutSequences(`a\u001b${each}${text}`)).toBe(`a${text}`);
});

test.each([
  [
    "# Deploy\n\nRun **all** of `npm test`, then [tag](https://a.co).",
    "Deploy Run all of npm test, then tag.",
  ],
  ["Before:\n\n1. Call\n2. Wait\n   - an hour", "Before: • Call • Wait • an hour"],
  ["- [ ] an alert\n- [x] more room", "• an alert • more room"],
  ["| step | who |\n|---|---|\n| tag | ops |", "step who tag ops"],
  [
    "> ~~gone~~ ![the plan](https://example.com/plan.png)\n\n```ts\nconst a = 2 ** 3;\n```",
    "gone the plan const a = 2 ** 3;",
  ],
])("%j says what it says without its marks", (markdown, said) => expect(plain(markdown)).toBe(said));

test.each([["snake_case_name is 2 * 3 * 4"], ["**"], ["<b>AT&T</b>"], ["日本語のメモ"], [""]])(
  "%j stays as it is: there is no mark in it",
  (text) => expect(plain(text)).toBe(text),
);

test("of a long text the beginning is enough", () => {
  const long = plain("**word** ".repeat(100_000));
  expect(long).toMatch(/^word word word/);
  expect(long.length).toBeLessThan(1000);
});

test("bars join values at round times, and tell nothing recorded from zero", () => {
  const bars = barsOf(8, 1500, 300, 1800);
  expect(bars).toEqual([
    { time: 0, begin: 0, end: 1 },
    { time: 1800, begin: 1, end: 7 },
    { time: 3600, begin: 7, end: 8 },
  ]);
  const values = [null, 0, 1, null, 2, 0, 0, 5];
  expect(bars.map(({ begin, end }) => sumOf(values.slice(begin, end)))).toEqual([null, 3, 5]);
  const series = {
    acknowledged: [null, 1, 3, null, 0, 0, 0, 0],
    latency_seconds: [null, 2, 6, null, null, null, null, null],
  };
  expect(bars.map((bar) => meanOf(series, bar))).toEqual([null, 5, null]);
});
