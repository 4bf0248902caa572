import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const COMMAND = join(import.meta.dirname, "../../bench/recall.ts");
const run = (...args: string[]) => promisify(execFile)(process.execPath, [COMMAND, ...args]);

test("bench:recall without a file stores and asks the sample conversation, and finds its turns", async () => {
  const { stdout } = await run();
  const line = /^without category 5 \(7\)\s+recall@5 (\S+), recall@10 (\S+), nDCG@10 (\S+), hit@10 (\S+)$/m;
  const [recall5, recall10, , hit10] = (line.exec(stdout) as RegExpExecArray).slice(1).map(Number.parseFloat);
  expect(recall5).toBeGreaterThanOrEqual(70);
  expect(recall10).toBeGreaterThanOrEqual(80);
  expect(hit10).toBeLessThanOrEqual(100);
  expect(stdout).toMatch(/^all questions \(8\) /m);
  expect(stdout).toMatch(/^category 5 \(1\) /m);
  expect(stdout).toMatch(/^p50 \/ p95 of a search, one at a time\s+[\d.]+ \/ [\d.]+ ms$/m);
});

test("bench:recall says which file is missing", () =>
  expect(run("no-such-file.json")).rejects.toMatchObject({
    code: 1,
    stderr: "There is no file no-such-file.json.\n",
  }));
