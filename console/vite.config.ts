import { defineConfig } from "vite";

const SERVER = "http://127.0.0.1:3000";

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // The policy of the gateway allows no inline script and no data: URL but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/v1": SERVER, "/docs": SERVER, "/openapi.json": SERVER } },
});
