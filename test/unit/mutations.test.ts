import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { FAULTS } from "../mutations/faults.ts";

const ROOT = join(import.meta.dirname, "../..");

test("each fault of the mutations can be put into the code, and has tests", () => {
  const stale = FAULTS.filter(({ file, from, tests }) => {
    const path = join(ROOT, file);
    const isOnce = existsSync(path) && readFileSync(path, "utf8").split(from).length === 2;
    return !isOnce || tests.length === 0 || !tests.every((each) => existsSync(join(ROOT, each)));
  });
  expect(stale.map(({ what, file }) => `${file}: ${what}`)).toEqual([]);
});
