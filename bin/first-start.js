// Starts the service once in a temporary folder, so that Node's compile cache is filled (code-cache.js): the first start of a
// user, or of a container, is then as fast as later ones. Before, it deletes what packages bring and nothing here uses: 100 MB.
// Plain JavaScript, because any Node may run it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const cwd = join(import.meta.dirname, "..");
const packages = join(cwd, "node_modules");
// Headers for compiling add-ons of Node, and a canvas for drawing PDF files, of which only the text is read.
for (const name of namesIn(packages, /^node-linux-/)) remove(join(packages, name, "include"));
for (const name of namesIn(join(packages, "@napi-rs"), /^canvas-/)) remove(join(packages, "@napi-rs", name));

// The cache is keyed by Node's flags: the same as those of `npm start`, "#! … node FLAGS".
const [command] = readFileSync(join(cwd, "bin/server.js"), "utf8").split("\n");
const args = [...command.split(" node ")[1].split(" "), "bin/start.js"];
const dir = mkdtempSync(join(tmpdir(), "sensorium-first-start-"));
const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", DATA_DIR: dir };
const child = spawn(process.execPath, args, {
  cwd,
  env,
  timeout: 30_000,
  stdio: ["ignore", "pipe", "ignore"],
});
child.stdout.on("data", (text) => text.includes("ready") && child.kill());
child.on("close", () => remove(dir));

function namesIn(folder, pattern) {
  return existsSync(folder) ? readdirSync(folder).filter((name) => pattern.test(name)) : [];
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}
