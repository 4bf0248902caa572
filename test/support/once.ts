/**
 * Loads a module by Node itself, once for each process: jest's `import` loads it again, into a separate realm, for each
 * test file. For what is costly to load and keeps nothing of one file that another could see.
 */
export const once = process.getBuiltinModule("node:module").createRequire(import.meta.url);
