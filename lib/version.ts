import { createRequire } from "node:module";

/** The version of this service, as its package has it. */
export const { version: VERSION } = createRequire(import.meta.url)("../package.json") as { version: string };
