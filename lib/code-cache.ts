import { fileURLToPath } from "node:url";

/** Where compiled code is kept (docs/decisions/0019-memory-at-rest.md): as trusted as the code beside it. */
export const CODE_CACHE = fileURLToPath(new URL("../node_modules/.cache/afferent/code", import.meta.url));
