// Plain JavaScript, because it must run before the first TypeScript module is loaded, and on any Node.
await import("./check-node.js");
const { enableCompileCache } = await import("node:module");

// Load the large packages before enabling the cache: their cache entries stay in memory as long as the process runs (13
// MB), and plain JavaScript compiles as fast as it is read.
for (const name of ["moleculer", "moleculer-web", "mongoose", "prom-client", "re2js", "@marcbachmann/cel-js"])
  await import(name);

// Without a cache every start strips and compiles each module again: half a second, and 20 MB for the stripper.
enableCompileCache(new URL("../node_modules/.cache/sensorium/code", import.meta.url).pathname);
await import("./main.ts");
