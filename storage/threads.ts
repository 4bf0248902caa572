import { CODE_CACHE } from "../lib/code-cache.ts";
import { atTurnEnd } from "../lib/queue/turn.ts";

/** How this program's threads over SQLite files start, and when what is requested of them is sent. */
export const threads = {
  bootstrap: { module: new URL("./thread.mjs", import.meta.url), data: { cache: CODE_CACHE } },
  atTurnEnd,
};
