import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { lockIn } from "../../deploy/release/lock.ts";
import { startAlone } from "../support/alone.ts";
import { agentToken, api } from "../support/http.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const ROOT = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
const OURS = /^node_modules\/sensorium-(server|export|embedder-en)$/;

/** The build, and npm's installation. */
const LONGEST_MS = 400_000;

let folder: string;
/** The image's /app. */
let app: string;
let server: TestServer;
/** Where the image's commands run. */
const root = () => join(app, /^WORKDIR \/app\/(.*)$/m.exec(dockerfile)?.[1] as string);

beforeAll(async () => {
  folder = await ownFolder();
  app = join(folder, "app");
  const [, pack] = /^RUN (npm run release .*)$/m.exec(dockerfile) ?? [];
  const [, install] = /^RUN (node deploy\/release\/install\.ts .*)$/m.exec(dockerfile) ?? [];
  for (const command of [pack, install] as string[]) {
    const line = command.replaceAll(/ \/(?=packed|app)/g, ` ${folder}/`);
    execFileSync("sh", ["-c", line], { cwd: ROOT, stdio: "pipe" });
  }
  server = await startAlone({ root: root(), env: { OUTPUT_EXPORT: "true" } });
}, LONGEST_MS);

atEnd(() => server?.stop());

test("the packages of others are those of the lock file, and run on each platform", () => {
  const locked = lockIn(ROOT);
  // npm's lock file also names what it leaves out: binaries, which are optional.
  const installed = Object.entries(lockIn(app)).filter(
    ([path]) => path !== "" && !OURS.test(path) && existsSync(join(app, path)),
  );
  expect(installed.length).toBeGreaterThan(100);
  for (const [path, { version, integrity, ...rest }] of installed) {
    expect([path, version, integrity]).toEqual([path, locked[path]?.version, locked[path]?.integrity]);
    expect([path, "cpu" in rest, "hasInstallScript" in rest]).toEqual([path, false, false]);
  }
});

test("there are no sources in TypeScript of ours", () =>
  expect(globSync("node_modules/sensorium-*/**/*.ts", { cwd: app })).toEqual([]));

test("it serves, and can export PDF", async () => {
  const { status } = await fetch(`${server.root}/readyz`);
  expect(status).toBe(200);
  expect(server.logs()).not.toContain("sensorium-export is not installed");
});

test("with the embedder of about 100 languages a question in one finds a memory in another", async () => {
  const lines = readFileSync(join(ROOT, "deploy/multilingual.Dockerfile"), "utf8");
  const [, given = ""] = /^ENV (.*)$/m.exec(lines) ?? [];
  const env = Object.fromEntries(
    given
      .replace("=/app", `=${app}`)
      .split(" ")
      .map((each) => each.split("=")),
  );
  const [, add = ""] = /^RUN (node .*)$/m.exec(lines) ?? [];
  execFileSync("sh", ["-c", add], { cwd: root(), env: { ...process.env, ...env, DATA_DIR: folder } });
  await using speaking = await startAlone({ root: root(), env });
  const agent = api(speaking, await agentToken(speaking, speaking.credentials.agent.api_key));
  const content = "Die Rechnung der Bäckerei ist am Freitag fällig.";
  ok(await agent.post("/memories", { type: "semantic", scope: "agent", title: "Rechnung", content }));
  const sources = async () => {
    const { results } = ok(await agent.post("/memories/search", { query: "When must the bakery be paid?" }));
    return results[0]?.sources.vector;
  };
  expect(await settle(sources)).toBeGreaterThan(0);
});

test("npm runs the operator's commands in its folder", async () => {
  await server.end();
  const env = { PATH: process.env.PATH, HOME: folder, DATA_DIR: server.dataDir };
  const file = join(folder, "backup.sensorium");
  const output = execFileSync("npm", ["run", "--silent", "backup", "--", file], {
    cwd: root(),
    env,
    encoding: "utf8",
  });
  expect(output).toContain("is backed up");
});
