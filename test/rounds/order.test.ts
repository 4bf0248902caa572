/** @needs mongodb, nats: `npm run rounds:order -- 20000` is the same with more events. */
import { afterAll, expect, test } from "@jest/globals";
import { startMongo } from "../support/mongo.ts";
import { runOrdered } from "./lib/ordered.ts";

const EVENTS = 240;
const mongo = await startMongo();
afterAll(async () => {
  if ("url" in mongo) await mongo.stop();
});

("url" in mongo ? test : test.skip)(
  "no order and no limit is violated and nothing is lost when two of three workers are killed",
  async () => {
    const mongoUrl = "url" in mongo ? mongo.url : "";
    const outcome = await runOrdered({ mongoUrl, events: EVENTS, seed: 7, say: () => {} });
    expect(outcome).toEqual({ acknowledged: EVENTS, findings: [] });
  },
);
