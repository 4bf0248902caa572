/** @needs mongodb: the commands of docs/guides/move.md. */
import { guideTest } from "../suites/guide.ts";
import { prelude } from "../support/guides.ts";
import { startServer } from "../support/server.ts";

// It starts a dozen processes.
guideTest("move", ["3100"], 400_000, async (mongo, ends) => {
  const OPERATOR_TOKEN = "the-long-operator-token-of-the-guide";
  const server = ends.use(await startServer({ env: { OPERATOR_TOKEN } }));
  return { server, prelude: prelude(), env: { OPERATOR_TOKEN, mongo, MONGO_URL: "" } };
});
