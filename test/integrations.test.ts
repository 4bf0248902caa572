/** @needs frameworks */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { blocksOf, page } from "./support/guides.ts";
import { type ClientAgent, newClient } from "./support/integrations.ts";
import { oldestNode } from "./support/oldest-node.ts";
import { startServer, type TestServer } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = globSync("packages/integrations/*/package.json", { cwd: ROOT })
  .map((file) => dirname(file))
  .sort();
const PACKAGES = ["packages/client", ...FOLDERS].map((folder) => `./${folder}`);
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));

/** What a README's program needs that it does not name: a model, without a provider. */
const BEFORE: Record<string, string> = {
  "packages/integrations/ai-sdk": `
    import { MockLanguageModelV4 } from "ai/test";
    const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [{ type: "text", text: "within 14 days" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: tokens, outputTokens: tokens },
        warnings: [],
      }),
    });
  `,
  "packages/integrations/openai-agents-js": `
    import { setTracingDisabled } from "@openai/agents-core";
    import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
    setTracingDisabled(true);
    const model = new ScriptedModel([
      [functionCall("memories_create", { content: "Ada drinks green tea" }, { callId: "1" })],
      [assistantMessage("Noted.")],
      [assistantMessage("Order 1 is being packed.")],
    ]);
  `,
};
const PRINTED: Record<string, string> = {
  "packages/integrations/ai-sdk": "within 14 days\n",
  "packages/integrations/langchain-js": "0\ntrue\n",
  "packages/integrations/langgraph-js": "green tea, noted\ncom.example.order.paid\norder-1 is shipped\n",
  "packages/integrations/openai-agents-js": "Noted.\nOrder 1 is being packed.\n",
};

let server: TestServer;
let folder: string;
/** A program's folder, with the packages from their tarballs and the frameworks. */
let app: string;

async function run(cwd: string, command: string, args: string[], agent?: ClientAgent): Promise<string> {
  const server = agent && { SENSORIUM_URL: agent.url, SENSORIUM_API_KEY: agent.apiKey };
  const env = { PATH: process.env.PATH, HOME: folder, ...server };
  return (await promisify(execFile)(command, args, { cwd, env })).stdout;
}

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  folder = mkdtempSync(join(tmpdir(), "sensorium-integrations-"));
  const checkout = copyOfCheckout(join(folder, "checkout"));
  app = join(folder, "app");
  mkdirSync(join(app, "node_modules"), { recursive: true });
  linkModules(join(app, "node_modules"));
  writeFileSync(join(app, "package.json"), '{ "type": "module" }');
  const packed = await run(checkout, "npm", ["pack", "--silent", ...PACKAGES]);
  for (const tarball of packed.trim().split("\n")) {
    const installed = join(app, "node_modules", tarball.replace(/-\d.*/, ""));
    mkdirSync(installed);
    await run(checkout, "tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  }
});
afterAll(async () => {
  if (folder) rmSync(folder, { recursive: true });
  await server?.stop();
});

/** What is packed, where packing may write: with all that npm installed but the packages of this repository. */
function copyOfCheckout(to: string): string {
  mkdirSync(join(to, "node_modules"), { recursive: true });
  const isSource = (file: string) => !["node_modules", "dist", "tests"].includes(basename(file));
  for (const each of [
    "package.json",
    "tsconfig.json",
    "packages/client",
    "packages/integrations",
    "docs/openapi.json",
  ])
    cpSync(join(ROOT, each), join(to, each), { recursive: true, filter: isSource });
  linkModules(join(to, "node_modules"));
  symlinkSync(join(ROOT, "packages/client/node_modules"), join(to, "packages/client/node_modules"));
  symlinkSync(join(to, "packages/client"), join(to, "node_modules/sensorium"));
  return to;
}

function linkModules(to: string): void {
  const own = new Set(["sensorium", ...FOLDERS.map((each) => manifestOf(each).name)]);
  for (const from of ["packages/integrations/node_modules", "node_modules"]) {
    for (const name of globSync("{[!@.]*,@*/*}", { cwd: join(ROOT, from) })) {
      const link = join(to, name);
      if (own.has(name) || existsSync(link)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(ROOT, from, name), link);
    }
  }
}

test("the integrations have their types", async () => {
  await run(ROOT, join(ROOT, "node_modules/.bin/tsc"), [
    "--noEmit",
    "-p",
    "packages/integrations/tsconfig.check.json",
  ]);
});

test("each integration with a package.json is here", () => {
  expect(FOLDERS.length).toBeGreaterThanOrEqual(4);
});

describe.each(FOLDERS)("%s", (from) => {
  const manifest = manifestOf(from);
  const readme = page(`${from}/README.md`);

  test("packs what a program loads and no more", () => {
    const files = globSync("**/*", { cwd: join(app, "node_modules", manifest.name) });
    const isMeant = (file: string) =>
      /^(dist(\/.+\.(js|d\.ts))?|package\.json|README\.md|LICENSE)$/.test(file);
    expect(files.filter((file) => !isMeant(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "LICENSE"]));
  });

  test("depends on the client alone; each framework is the program's, and was tried", () => {
    expect(manifest.dependencies).toEqual({ sensorium: manifest.version });
    for (const name of Object.keys(manifest.peerDependencies))
      expect([name, manifest.devDependencies[name]]).toEqual([
        name,
        expect.stringMatching(/^\d+\.\d+\.\d+$/),
      ]);
  });

  test("the program of its README has its types and does what it says", async () => {
    const program = (BEFORE[from] ?? "") + blocksOf(readme, "ts").join("");
    const file = `${basename(from)}.mts`;
    writeFileSync(join(app, file), program);
    const strict = ["--strict", "--noEmit", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"];
    await run(app, join(ROOT, "node_modules/.bin/tsc"), [...strict, "--types", "node", file]);
    writeFileSync(join(app, "program.mjs"), stripTypeScriptTypes(program));
    expect(await run(app, oldestNode(), ["program.mjs"], await newClient(server))).toBe(PRINTED[from]);
  });
});
