import { expect, test } from "@jest/globals";
import { declaredNeeds, describeSkipped } from "../support/needs.ts";

// Put together here, so that this file does not seem to declare them.
const needs = (list: string) => `/** @${"needs"} ${list} */`;

test("a test file declares its needs in a comment", () => {
  expect(declaredNeeds(needs("mongodb, nats: both at once"))).toEqual(["mongodb", "nats"]);
  expect(declaredNeeds("no comment")).toEqual([]);
});

test("an unknown need is an error that names those there are", () =>
  expect(() => declaredNeeds(needs("oracle"))).toThrow(/oracle: unknown, allowed are mongodb, nats/));

const MISSING = new Map([
  ["chromium", { why: "not found: have chromium on PATH", debian: "chromium" }],
  ["pypi", { why: "not found: have Python 3.10", debian: "python3 python3-venv" }],
  ["python", { why: "not found: have python3 on PATH", debian: "python3" }],
  ["ferretdb", { why: "not found: have Go 1.24" }],
]);

test("skipped tests are counted by what they need", () => {
  const files = [
    { need: "chromium", tests: 3 },
    { need: "ferretdb", tests: 1 },
    { need: "chromium", tests: 2 },
  ];
  expect(describeSkipped(files, MISSING).slice(0, 2)).toEqual([
    "skipped: 5 tests in 2 files need chromium, not found: have chromium on PATH",
    "skipped: 1 tests in 1 files need ferretdb, not found: have Go 1.24",
  ]);
});

test("one command installs all that skipped tests need from Debian", () => {
  const files = ["python", "pypi", "ferretdb"].map((need) => ({ need, tests: 1 }));
  expect(describeSkipped(files, MISSING).at(-1)).toBe(
    "to run them: sudo apt-get update && sudo apt-get install -y --no-install-recommends python3 python3-venv",
  );
});

test("nothing is said where no test was skipped", () => expect(describeSkipped([], MISSING)).toEqual([]));
