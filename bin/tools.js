// Each script that works on the code runs this first: it installs the development tools if they are missing, because `npm ci`
// leaves them out (.npmrc). Plain JavaScript, because an older Node cannot load the TypeScript.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

await import("./check-node.js");

const cwd = join(import.meta.dirname, "..");
const { devDependencies } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
// npm installs all or none.
const isComplete = Object.keys(devDependencies).every((name) => existsSync(join(cwd, "node_modules", name)));
if (!isComplete) {
  if (process.env.TEST_INSTALL === "0") {
    console.error("TEST_INSTALL is 0, and the development tools are not installed: npm ci --include=dev");
    process.exit(1);
  }
  console.error("Installs the development tools first, once: 350 MB, about a minute");
  // Added to what is there: `npm ci` would begin with removing it.
  const options = "--include=dev --no-save --ignore-scripts --no-audit --loglevel=error";
  // The output of the script is its own.
  const { status } = spawnSync("npm", ["install", ...options.split(" ")], { cwd, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}
