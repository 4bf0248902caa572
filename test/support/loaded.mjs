// Loaded before the server (`NODE_OPTIONS=--import`): on SIGUSR2 it prints of which packages its main thread has loaded
// how many bytes, and the threads it has started.
import { statSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import workers from "node:worker_threads";

const packages = {};
const threads = [];
const { isMainThread, Worker } = workers;

if (isMainThread) {
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
      if (name) packages[name] = (packages[name] ?? 0) + statSync(new URL(url)).size;
      return next(url, context);
    },
  });
  workers.Worker = class extends Worker {
    constructor(file, options) {
      super(file, options);
      threads.push(basename(String(file)));
    }
  };
  syncBuiltinESMExports();
  process.on("SIGUSR2", () => {
    process.stdout.write(`loaded: ${JSON.stringify({ packages, threads: threads.sort() })}\n`);
  });
}
