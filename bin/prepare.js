// Builds the console, writes the client's types, and starts the service once in a temporary folder, which fills the
// compile cache (start.js): the first start is then as fast and as small as later ones. `npm ci` runs it; nothing that
// runs depends on it. Plain JavaScript, because any Node may run it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const LONGEST_MS = 30_000;

await buildConsole();
await writeTypes();

const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
// The arguments after `exec node`.
const [, , ...args] = scripts.start.split(" ");
const dataDir = mkdtempSync(join(tmpdir(), "sensorium-prepare-"));
const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir };
const options = { cwd: ROOT, env, timeout: LONGEST_MS, stdio: ["ignore", "pipe", "ignore"] };
const child = spawn(process.execPath, args, options);
child.stdout.on("data", (text) => {
  if (text.includes("ready")) child.kill();
});
child.on("close", () => rmSync(dataDir, { recursive: true }));

/** Without development dependencies there is no console: the gateway then explains how to build it. */
async function buildConsole() {
  try {
    const { build } = await import("vite");
    await build({ root: join(ROOT, "packages/console"), logLevel: "error" });
  } catch (err) {
    console.warn(`The console was not built: ${err.message.split("\n")[0]}`);
  }
}

/** They are for compilers and editors alone. */
async function writeTypes() {
  try {
    await (await import("../packages/client/generate/types.ts")).writeTypes();
  } catch (err) {
    console.warn(`The client's types were not written: ${err.message.split("\n")[0]}`);
  }
}
