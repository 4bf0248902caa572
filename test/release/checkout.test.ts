/** A fresh checkout, by the commands of README.md: what they install, and what they print. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "@jest/globals";
import { startAlone } from "../support/alone.ts";
import { oldestNode, shellWith } from "../support/oldest-node.ts";
import { ownFolder } from "../support/own-folder.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Limit of a user's installation, on disk. */
const MOST_MB = 400;
/** npm downloads, the console is built. */
const LONGEST_MS = 400_000;

let folder: string;
/** Output of the first command. */
let installed: { stdout: string; stderr: string };
const npm = (...args: string[]) =>
  promisify(execFile)("npm", args, { cwd: folder, env: shellWith(oldestNode()), maxBuffer: 1e8 });

beforeAll(async () => {
  folder = await ownFolder();
  const list = ["ls-files", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", list, { cwd: ROOT, encoding: "utf8" }).split("\n");
  const input = files.filter((file) => file && existsSync(join(ROOT, file))).join("\n");
  execFileSync("sh", ["-c", 'tar -cf - -T - | tar -xf - -C "$0"', folder], { cwd: ROOT, input });
  installed = await npm("ci");
}, LONGEST_MS);

test("`npm ci` installs 400 MB at most, whole for npm, and prints no more than it does", async () => {
  expect(installed.stderr).toBe("");
  expect(installed.stdout).toMatch(
    /^\n> sensorium-server@\S+ prepare\n> node bin\/prepare\.js\n\nBuilds the console, .*\n\nadded \d+ packages in \w+\n$/,
  );
  const [megabytes] = execFileSync("du", ["-sB", "MB", "node_modules"], {
    cwd: folder,
    encoding: "utf8",
  }).split("MB");
  expect(Number(megabytes)).toBeLessThanOrEqual(MOST_MB);
  await npm("ls");
});

test("the server starts, with its console", async () => {
  await using server = await startAlone({ root: folder });
  const page = await fetch(server.root, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/assets/")]);
});

test(
  "what works on the code installs the rest first, and leaves the lock file as it is",
  async () => {
    const { stderr } = await npm("run", "--silent", "typecheck");
    expect(stderr).toMatch(/^Installs the development tools first/);
    const lock = (root: string) => readFileSync(join(root, "package-lock.json"), "utf8");
    expect(lock(folder)).toBe(lock(ROOT));
  },
  LONGEST_MS,
);
