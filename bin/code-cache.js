// Plain JavaScript, because it must run before the first TypeScript module is loaded.
import { enableCompileCache } from "node:module";

// Without it every start, and every thread, strips and compiles each module again. Trusted like the code, so kept with it.
process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/../node_modules/.cache/sensorium/code`;
enableCompileCache();
