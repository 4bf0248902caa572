// Plain JavaScript, because it must run before the first TypeScript module is loaded, and on any Node.
await import("./check-node.js");
const { enableCompileCache } = await import("node:module");

// Without it every start, and every thread, strips and compiles each module again. Trusted like the code, so kept with it.
process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/../node_modules/.cache/sensorium/code`;
enableCompileCache();
await import("./main.ts");
