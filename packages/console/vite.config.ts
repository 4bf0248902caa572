import { join } from "node:path";
import { defineConfig } from "vite";
import { publish } from "./publish.ts";

const SERVER = "http://127.0.0.1:3000";
const SERVED = join(import.meta.dirname, "dist");
const BUILT = join(SERVED, ".built");

export default defineConfig({
  root: import.meta.dirname,
  build: {
    // Not where it is served from: a server that runs goes on with what it has until all is there.
    outDir: BUILT,
    emptyOutDir: true,
    // The policy of the gateway allows no inline script and no data: URL but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // What libraries say to servers that render: there is none here.
      onLog: (level, log, tell) => log.code === "MODULE_LEVEL_DIRECTIVE" || tell(level, log),
    },
  },
  plugins: [{ name: "publish", apply: "build", closeBundle: () => publish(BUILT, SERVED) }],
  server: { proxy: { "/v1": SERVER, "/docs": SERVER, "/openapi.json": SERVER } },
});
