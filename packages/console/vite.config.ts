import { join } from "node:path";
import { defineConfig } from "vite";
import { publish } from "./publish.ts";

const SERVER = "http://127.0.0.1:3000";
const SERVED = join(import.meta.dirname, "dist");
/** Of this build alone: two may run at once. */
const BUILT = join(import.meta.dirname, `.built-${process.pid}`);

export default defineConfig({
  root: import.meta.dirname,
  build: {
    // Not the served folder: a running server keeps the old build until the new one is complete.
    outDir: BUILT,
    emptyOutDir: true,
    // The gateway's policy allows no inline script, and data: URLs only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // Libraries print this for server-side rendering, which the console does not use.
      onLog: (level, log, tell) => log.code === "MODULE_LEVEL_DIRECTIVE" || tell(level, log),
    },
  },
  plugins: [{ name: "publish", apply: "build", closeBundle: () => publish(BUILT, SERVED) }],
  server: { proxy: { "/v1": SERVER, "/docs": SERVER, "/openapi.json": SERVER } },
});
