import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testsOf } from "../support/changed.ts";
import { type Choosable, isChosen } from "../support/choose.ts";

const SUITES = ["unit", "packages", "http", "store", "nodes", "integrations"];
const file = (path: string, suite: string, more: Partial<Choosable> = {}): Choosable => ({
  ...{ path, suite, seconds: 1, isLonger: false, isChanged: false },
  ...more,
});
const FILES = [
  file("test/unit/glob.test.ts", "unit", { isChanged: true }),
  file("test/unit/http-date.test.ts", "unit", { seconds: 9 }),
  file("packages/client/test/profile.test.ts", "packages"),
  file("packages/integrations/openai/test/store.test.ts", "integrations", { isLonger: true }),
  file("test/http/nodes.test.ts", "http"),
  file("test/http/torture.test.ts", "http", { isLonger: true, isChanged: true }),
  file("test/store.sqlite.test.ts", "store"),
  file("test/owners.test.ts", "nodes"),
];

test.each([
  ["", "glob http-date profile nodes sqlite owners"],
  ["unit", "glob http-date"],
  ["packages", "profile"],
  ["http", "nodes torture"],
  ["nodes", "owners"],
  ["store", "sqlite"],
  ["quick", "glob profile"],
  ["changed", "glob"],
  ["store.test", "store"],
  ["glob owners", "glob owners"],
  ["nothing", ""],
])("npm test -- %s", (words, expected) => {
  const chosen = FILES.filter((each) => isChosen(each, words.split(" ").filter(Boolean), SUITES));
  const names = chosen.map(({ path }) =>
    path
      .split("/")
      .at(-1)
      ?.replace(/^store\.(?!test)|\.test\.ts$/g, ""),
  );
  expect(names.join(" ")).toBe(expected);
});

test.each([
  [
    ...["a domain of services", "services/remember/memories/memories.ts", "test/http/memory-keys"],
    "test/http/merges",
  ],
  ["what is imported", "lib/filter/glob.ts", "test/unit/glob", "test/unit/cursor"],
  ["a helper of tests", "test/support/dns.ts", "test/brokers/rabbitmq", "test/unit/glob"],
  ["the command line", "packages/client/cli/work.ts", "test/http/cli-work", "test/http/channels"],
  ["a test itself", "test/http/merges.test.ts", "test/http/merges", "test/http/memory-keys"],
])("the tests that belong to %s", (_, changed, one, other) => {
  const [belongs, foreign] = [`${one}.test.ts`, `${other}.test.ts`];
  expect(testsOf([changed], join(import.meta.dirname, "../.."), [belongs, foreign])).toEqual([belongs]);
});
