import { fileURLToPath } from "node:url";

/** The folder of compiled code (docs/decisions/0019-memory-at-rest.md), as trusted as the code itself. */
export const CODE_CACHE = fileURLToPath(new URL("../node_modules/.cache/sensorium/code", import.meta.url));
