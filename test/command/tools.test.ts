/** What `npm ci` leaves out, each script that works on the code installs first (bin/tools.js). */
import { execFile } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { shellWith } from "../support/oldest-node.ts";
import { ownFolder } from "../support/own-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
const scriptsOf = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(join(ROOT, file), "utf8")).scripts;

/** Scripts that run with what `npm ci` installs. */
const WITHOUT =
  /^(start|prepare|backup|restore|check|salvage|admin|embedder|example:run-with-two-agents|console:(build|dev)|lint:titles|lock:complete)$/;

test("each script that works on the code installs the tools first", () => {
  const scripts = scriptsOf("package.json");
  const isGuarded = (line = ""): boolean => {
    const [, first] = /^npm run --silent ([\w:]+)/.exec(line) ?? [];
    return first ? isGuarded(scripts[first]) : line.startsWith("node bin/tools.js && ");
  };
  const others = Object.keys(scripts).filter((name) => !WITHOUT.test(name));
  expect(others.length).toBeGreaterThan(20);
  expect(others.filter((name) => !isGuarded(scripts[name]))).toEqual([]);
  for (const file of globSync("packages/integrations/*/package.json", { cwd: ROOT }))
    expect([file, scriptsOf(file).prepack]).toEqual([file, "node ../../../bin/tools.js && tsc -p ."]);
});

test("they are installed once, announced, and the lock file stays; not with TEST_INSTALL=0", async () => {
  const folder = await ownFolder();
  for (const file of [".npmrc", "bin/tools.js", "bin/check-node.js"])
    cpSync(join(ROOT, file), join(folder, file));
  const manifest = {
    ...{ name: "checkout", version: "1.0.0", type: "module" },
    scripts: { work: "node bin/tools.js && echo worked" },
    ...{ dependencies: { needed: "file:needed" }, devDependencies: { tool: "file:tool" } },
  };
  for (const name of ["needed", "tool"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const npm = (args: string, env = {}) =>
    promisify(execFile)("npm", args.split(" "), {
      cwd: folder,
      env: { ...shellWith(process.execPath), ...env },
    });
  const installed = () => ["needed", "tool"].filter((name) => existsSync(join(folder, "node_modules", name)));
  await npm("install --package-lock-only");
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");

  await npm("ci");
  await expect(npm("run --silent work", { TEST_INSTALL: "0" })).rejects.toMatchObject({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringMatching(/^TEST_INSTALL is 0, .*: npm ci --include=dev\n$/),
  });
  expect(installed()).toEqual(["needed"]);

  expect(await npm("run --silent work")).toMatchObject({
    stdout: "worked\n",
    stderr: expect.stringMatching(/^Installs the development tools first, once: /),
  });
  expect(installed()).toEqual(["needed", "tool"]);
  expect(readFileSync(join(folder, "package-lock.json"), "utf8")).toBe(lock);
  expect(await npm("run --silent work")).toEqual({ stdout: "worked\n", stderr: "" });
});
