// Builds the console, and starts the service once on a folder of its own: what is compiled then is kept (start.js), so
// that the first start is as fast and as small as any. `npm ci` runs it; nothing depends on it. Plain JavaScript,
// because any Node may run it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const LONGEST_MS = 30_000;

await buildConsole();

const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
// What follows `exec node`.
const [, , ...args] = scripts.start.split(" ");
const dataDir = mkdtempSync(join(tmpdir(), "afferent-prepare-"));
const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", DATA_DIR: dataDir };
const options = { cwd: ROOT, env, timeout: LONGEST_MS, stdio: ["ignore", "pipe", "ignore"] };
const child = spawn(process.execPath, args, options);
child.stdout.on("data", (text) => {
  if (text.includes("ready")) child.kill();
});
child.on("close", () => rmSync(dataDir, { recursive: true }));

/** Without the development dependencies there is no console: the gateway then says how to build it. */
async function buildConsole() {
  try {
    const { build } = await import("vite");
    await build({ root: join(ROOT, "packages/console"), logLevel: "error" });
  } catch (err) {
    console.warn(`The console was not built: ${err.message.split("\n")[0]}`);
  }
}
