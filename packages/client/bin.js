#!/usr/bin/env node
// `sensorium`, on any Node that npm supports. A package contains the built `dist/cli.js`. In a checkout, a Node too old
// for TypeScript starts the one that `npm ci` installed, which is why this is plain JavaScript.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const [major] = process.versions.node.split(".").map(Number);
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

// Compiled code is kept, which saves most of a call's time; in a folder that others cannot write to, so never a relative one.
const { XDG_CACHE_HOME = "" } = process.env;
const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
module.enableCompileCache?.(join(cache, "sensorium", "code"));

if (!existsSync(new URL("cli.ts", import.meta.url))) await import("./dist/cli.js");
else if (major >= 24) {
  endWithParent();
  await import("./cli.ts");
} else if (existsSync(node)) handOver();
else await import("../../bin/check-node.js");

function handOver() {
  const self = fileURLToPath(import.meta.url);
  const stdio = ["inherit", "inherit", "inherit", "ipc"];
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio });
  // A terminal sends Ctrl-C to both processes, a supervisor to this one alone. A second one ends this one, and so the child.
  process.once("SIGINT", () => child.kill("SIGTERM"));
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("close", (code) => {
    process.exitCode = code ?? 1;
  });
}

/** However the process that handed over dies, nothing else would end this one: its channel closes. */
function endWithParent() {
  if (!process.connected) return;
  process.once("disconnect", () => process.exit(1));
  process.channel?.unref();
}
