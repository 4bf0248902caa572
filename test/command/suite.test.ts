import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { runSuite } from "../support/suite.ts";

const ROOT = join(import.meta.dirname, "../..");

async function run(names: string[], budgetSeconds = 60) {
  const files = names.map((name) => `test/command/fixtures/${name}.ts`);
  return runSuite(ROOT, files, budgetSeconds, { output: "ignore" });
}

test("reports passed, failed and skipped tests by name", async () => {
  const { files, problems } = await run(["tidy"]);
  expect(files).toEqual([
    {
      ...{ file: "test/command/fixtures/tidy.ts", passed: ["passes"] },
      failed: ["fails: Error: expect(received).toBe(expected) // Object.is equality Expected: 2 Received: 1"],
      ...{ skipped: ["is left out"], seconds: expect.any(Number), cpu: expect.any(Number), slow: [] },
    },
  ]);
  expect(problems).toEqual([]);
});

test("reports each file as it ends, and jest's output when the suite ends", async () => {
  const said: string[] = [];
  await runSuite(ROOT, ["test/command/fixtures/tidy.ts"], 60, {
    output: (text) => said.push(text),
    onFile: ({ file, failed }) => said.push(`${file}: ${failed}`),
  });
  expect(said).toEqual([
    expect.stringMatching(/^test\/command\/fixtures\/tidy\.ts: fails: Error: expect/),
    expect.stringMatching(/FAIL test\/command\/fixtures\/tidy\.ts.*1 failed/s),
  ]);
});

test.each(["child", "worker", "server"])("fails a file that leaves a %s behind", async (kind) => {
  const { files } = await run([kind]);
  expect(files).toEqual([
    expect.objectContaining({
      ...{ file: `test/command/fixtures/${kind}.ts`, passed: [] },
      ...{ failed: [expect.stringMatching(/^\(the file itself\): ./)], skipped: [] },
    }),
  ]);
});

test("stops a suite that goes over its budget, and names the file", async () => {
  const { files, problems } = await run(["endless"], 3);
  expect(files).toEqual([]);
  expect(problems).toEqual(["test/command/fixtures/endless.ts did not finish", "over the budget of 3 s"]);
});

test("does not take an early exit with code 0 for success", async () => {
  const { problems } = await run(["exits"]);
  expect(problems).toEqual(["test/command/fixtures/exits.ts did not finish"]);
});
