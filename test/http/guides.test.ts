import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { blocksOf, page, prelude, readersFolder, unseen } from "../support/guides.ts";
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
  const program = blocksOf(page("docs/guides/client.md"), "ts").join("");
  const file = join(server.dataDir, "client.ts");
  await writeFile(
    file,
    program.replace('"afferent"', JSON.stringify(join(ROOT, "packages/client/index.ts"))),
  );
  const { url, credentials } = server;
  const env = { PATH: process.env.PATH, AFFERENT_URL: url, AFFERENT_API_KEY: credentials.agent.api_key };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).toBe(
    "Orders over 100 are checked\nagain: the warehouse is closed\ncom.example.order.placed on attempt 2\n",
  );
});

test("the metrics that operate.md watches are there", async () => {
  const named = [...page("docs/guides/operate.md").matchAll(/afferent_\w+/g)].map(([name]) => name);
  const text = await (await fetch(`${server.root}/metrics`)).text();
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => name !== "afferent_" && !text.includes(`\n# TYPE ${name} `))).toEqual([]);
});
