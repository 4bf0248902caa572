import { CODE_CACHE } from "../lib/code-cache.ts";
import { atTurnEnd } from "../lib/queue/tick-end.ts";

/** Settings for this program's SQLite threads: their start, and when requests are sent to them. */
export const threads = {
  bootstrap: { module: new URL("./thread.mjs", import.meta.url), data: { cache: CODE_CACHE } },
  atTurnEnd,
};
