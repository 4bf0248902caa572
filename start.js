// Plain JavaScript, because it must run before the first TypeScript module is loaded, and on any Node.
await import("./check-node.js");
const { enableCompileCache } = await import("node:module");

// Without a cache every start strips and compiles each module anew: half a second, and 20 MB for the stripper.
enableCompileCache(new URL("node_modules/.cache/afferent/code", import.meta.url).pathname);
await import("./main.ts");
