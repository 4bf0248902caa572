/** @needs mongodb: what is written is read on the other driver too. */
import { randomBytes } from "node:crypto";
import { afterAll, describe } from "@jest/globals";
import { keptExactlySuite } from "../suites/kept-exactly.ts";
import { startMongo } from "../support/mongo.ts";
import { startServer } from "../support/server.ts";

const mongo = await startMongo();
const here = "url" in mongo;

(here ? describe : describe.skip)("on MongoDB", () => {
  const SECRET_KEY = randomBytes(32).toString("base64");
  const env = { MONGO_URL: here ? mongo.url : "", SECRET_KEY, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" };
  keptExactlySuite(() => startServer({ env }));
  // After the server, which the suite ends.
  afterAll(() => (here ? mongo.stop() : undefined));
});
