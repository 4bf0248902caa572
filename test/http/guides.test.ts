import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { blocksOf, page, prelude, readersFolder, runPrograms, unseen } from "../support/guides.ts";
import { freePort } from "../support/ports.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

const ROOT = join(import.meta.dirname, "../..");
const ELSEWHERE: Record<string, string> = {
  "README.md": "before each of the others",
  "brokers.md": "test/brokers/guide.test.ts, by a real broker",
  "filters.md": "test/unit/filter-language.test.ts, by the evaluator",
};
const guides = globSync("docs/guides/*.md", { cwd: ROOT })
  .map((file) => basename(file))
  .filter((file) => !(file in ELSEWHERE))
  // The process guide runs twice: leftovers of the first run must not matter.
  .flatMap((file) => (file === "process.md" ? [file, file] : [file]))
  .sort();

let server: TestServer;
let reader: ReturnType<typeof readersFolder>;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", PUSH_ALLOW_PRIVATE: "true" } });
  reader = readersFolder(server);
});
afterAll(async () => {
  reader?.remove();
  await server?.stop();
});

test.each(guides)("the commands of %s do what they say", async (file) => {
  const text = page(`docs/guides/${file}`).replaceAll("8080", String(await freePort()));
  const [blocks, shown] = [blocksOf(text), blocksOf(text, "text")];
  expect({ blocks: blocks.length > 0, shown: shown.length > 0 }).toEqual({ blocks: true, shown: true });
  const { code, output } = await shell(prelude() + blocks.join(""), { cwd: reader.folder });
  if (code !== 0) throw new Error(`exit code ${code}, after:\n${output}`);
  expect(output).not.toMatch(/"error":\{/);
  expect({ unseen: unseen(text, output), output }).toEqual({ unseen: [], output });
});

test("the programs of client.md do what they say", async () => {
  const stdout = await runPrograms(page("docs/guides/client.md"), server);
  expect(stdout).toBe(
    "Orders over 100 are checked\nagain: the warehouse is closed\ncom.example.order.placed on attempt 2\n",
  );
});

test("the metrics that operate.md watches are there", async () => {
  const named = [...page("docs/guides/operate.md").matchAll(/sensorium_\w+/g)].map(([name]) => name);
  const text = await (await fetch(`${server.root}/metrics`)).text();
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => name !== "sensorium_" && !text.includes(`\n# TYPE ${name} `))).toEqual([]);
});
