import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { lockIn } from "../../release/lock.ts";
import { startAlone } from "../support/alone.ts";
import { atEnd, ownFolder } from "../support/own-folder.ts";
import type { TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
const OURS = /^node_modules\/sensorium-(server|export|embedder-en)$/;

/** The build, and npm's installation. */
const LONGEST_MS = 400_000;

let folder: string;
/** The image's /app. */
let app: string;
let server: TestServer;

beforeAll(async () => {
  folder = await ownFolder();
  app = join(folder, "app");
  const [, pack] = /^RUN (npm run release .*)$/m.exec(dockerfile) ?? [];
  const [, install] = /^RUN (node release\/install\.ts .*)$/m.exec(dockerfile) ?? [];
  for (const command of [pack, install] as string[]) {
    const line = command.replaceAll(/ \/(?=packed|app)/g, ` ${folder}/`);
    execFileSync("sh", ["-c", line], { cwd: ROOT, stdio: "pipe" });
  }
  const [, workdir = ""] = /^WORKDIR \/app\/(.*)$/m.exec(dockerfile) ?? [];
  server = await startAlone({ root: join(app, workdir), env: { OUTPUT_EXPORT: "true" } });
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

test("npm runs the operator's commands in its folder", async () => {
  await server.end();
  const [cwd] = globSync("node_modules/sensorium-server", { cwd: app }).map((path) => join(app, path));
  const env = { PATH: process.env.PATH, HOME: folder, DATA_DIR: server.dataDir };
  const file = join(folder, "backup.sensorium");
  const output = execFileSync("npm", ["run", "--silent", "backup", "--", file], {
    cwd,
    env,
    encoding: "utf8",
  });
  expect(output).toContain("is backed up");
});
