// Loaded before the server (`NODE_OPTIONS=--import`): on SIGUSR2 it prints of which packages its main thread has loaded
// how many bytes, and which large parts of Node itself.
import { statSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const packages = {};

if (isMainThread) {
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
      if (name) packages[name] = (packages[name] ?? 0) + statSync(new URL(url)).size;
      return next(url, context);
    },
  });
  process.on("SIGUSR2", () => {
    const parts = process.moduleLoadList.filter((each) => each.includes("undici"));
    process.stdout.write(`loaded: ${JSON.stringify({ packages, parts })}\n`);
  });
}
