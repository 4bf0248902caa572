/** @needs mongodb, nats, redis: a short form of `npm run rounds:cluster`. */
import { randomInt } from "node:crypto";
import { expect, test } from "@jest/globals";
import { startMongo } from "../support/mongo.ts";
import { runCampaign } from "./lib/campaign.ts";
import { startStruckCluster } from "./lib/cluster.ts";

const mongo = await startMongo();
if ("stop" in mongo) await mongo.stop();

("url" in mongo ? test : test.skip)("a fault of a cluster under load loses and doubles nothing", async () => {
  const seed = randomInt(2 ** 31);
  const said: string[] = [];
  const outcome = await runCampaign({
    ...{
      rounds: 1,
      seed,
      say: (line) => said.push(line),
      start: () => startStruckCluster({ workers: 2, withBroker: false }),
    },
  });
  expect({ seed, said, findings: outcome.findings }).toEqual({ seed, said, findings: [] });
  expect(outcome.accepted).toBeGreaterThan(0);
});
