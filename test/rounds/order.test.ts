/** @needs mongodb, nats: `npm run rounds:order -- 20000` is the same with more events. */
import { expect, test } from "@jest/globals";
import { useMongo } from "../support/use.ts";
import { runOrdered } from "./lib/ordered.ts";

const EVENTS = 240;
const mongo = await useMongo();

("url" in mongo ? test : test.skip)(
  "no order and no limit is violated and nothing is lost when two of three workers are killed",
  async () => {
    const mongoUrl = "url" in mongo ? mongo.url : "";
    const outcome = await runOrdered({ mongoUrl, events: EVENTS, seed: 7, say: () => {} });
    expect(outcome).toEqual({ acknowledged: EVENTS, findings: [] });
  },
);
