import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startServer, type TestServer } from "../support/server.ts";
import { shell } from "../support/shell.ts";

const ROOT = join(import.meta.dirname, "../..");
const GUIDES = join(ROOT, "docs/guides");

const files = (await readdir(GUIDES)).filter((file) => file.endsWith(".md") && file !== "README.md").sort();
const textOf = (file: string) => readFile(file, "utf8");
const blocksOf = (text: string, language = "sh") =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block]) => block as string,
  );

/** `npx afferent` is this checkout's, wherever it is typed. */
const NPX = `npx() { shift; '${process.execPath}' '${join(ROOT, "client/cli.ts")}' "$@"; }\n`;

let server: TestServer;
let prelude: string;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  const [credentials] = blocksOf(await textOf(join(ROOT, "README.md")));
  const [helper] = blocksOf(await textOf(join(GUIDES, "README.md")));
  prelude = `${credentials}${helper}${NPX}`.replaceAll("./data", server.dataDir);
});
afterAll(() => server?.stop());

/** What a reader must come to see. */
const SHOWS: Record<string, string[]> = {
  "brokers.md": ["paused", "204"],
  "bundles.md": [
    "memory Refunds over 500 need two approvals",
    "output How refunds are made",
    "handoff refunds-of-may",
    "# Context: 3 items",
    "handoff,memory",
  ],
  "client.md": [
    "✓ key",
    "com.example.parcel.sent parcel-1",
    "parcel.lost",
    "Parcels over 30 kg",
    "Pack the third.",
  ],
  "handoffs.md": ["200", "409", "# Handoff: billing-migration", "## Rejected options", "20", "204"],
  "memory.md": [
    "billing,customer-risk",
    "ACME pays late",
    "true",
    "superseded",
    "204",
    "institutional",
    "active",
  ],
  "operate.md": ["200", "204"],
  "process.md": ["collect", "write", "review", "true", "closed", "what_makes_this_done", "# Notes for 2.0"],
  "receive.md": ["ticket-", "whsec_…", '"acknowledged":', '"timeline"'],
  "webhooks.md": ["/w/default/github", "com.github.issue.opened", '"status":"accepted"'],
};

test("every guide is tried", () => {
  expect(files).toEqual(Object.keys(SHOWS));
});

test.each(files)("the commands of %s do what they say", async (file) => {
  const blocks = blocksOf(await textOf(join(GUIDES, file)));
  expect(blocks.length).toBeGreaterThan(0);
  const { code, output } = await shell(prelude + blocks.join(""), { cwd: server.dataDir });
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
  expect(output).not.toMatch(/"error":\{/);
  const missing = SHOWS[file]?.filter((text) => !output.includes(text));
  expect({ missing, output }).toEqual({ missing: [], output });
});

test("the programs of client.md do what they say", async () => {
  const program = blocksOf(await textOf(join(GUIDES, "client.md")), "ts").join("");
  const file = join(server.dataDir, "client.ts");
  await writeFile(file, program.replace('"afferent"', JSON.stringify(join(ROOT, "client/index.ts"))));
  const { url, credentials } = server;
  const env = { PATH: process.env.PATH, AFFERENT_URL: url, AFFERENT_API_KEY: credentials.agent.api_key };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 20_000 });
  expect(stdout).toBe(
    "Orders over 100 are checked\nagain: the warehouse is closed\ncom.example.order.placed on attempt 2\n",
  );
});
