// Plain JavaScript: its imports must run before the first TypeScript module is loaded, and on any Node.
await import("./check-node.js");
await import("./code-cache.js");
await import("./main.ts");
