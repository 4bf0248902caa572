import { keptExactlySuite } from "../suites/kept-exactly.ts";
import { startServer } from "../support/server.ts";

keptExactlySuite(() => startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } }));
