#!/usr/bin/env node
// `afferent`, on any Node that npm runs on. A package has the built `dist/cli.js`. In a checkout an older Node cannot run
// TypeScript, and hands over to the one that `npm ci` brought: this is plain JavaScript for that reason.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major] = process.versions.node.split(".").map(Number);
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

if (!existsSync(new URL("cli.ts", import.meta.url))) await import("./dist/cli.js");
else if (major >= 24) await import("./cli.ts");
else if (existsSync(node)) handOver();
else await import("../../bin/check-node.js");

function handOver() {
  const cli = fileURLToPath(new URL("cli.ts", import.meta.url));
  const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends Ctrl-C to both: only what is sent to this one alone is passed on, and the child decides.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("close", (code) => {
    process.exitCode = code ?? 1;
  });
}
