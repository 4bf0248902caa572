import { randomInt } from "node:crypto";
import { expect, test } from "@jest/globals";
import { runCampaign } from "./lib/campaign.ts";
import { startKilled } from "./lib/killed.ts";

test("two SIGKILLs under load lose nothing, double nothing and give nothing again after its ack", async () => {
  const seed = randomInt(2 ** 31);
  const said: string[] = [];
  const outcome = await runCampaign({ rounds: 2, seed, say: (line) => said.push(line), start: startKilled });
  expect({ seed, said, findings: outcome.findings }).toEqual({ seed, said, findings: [] });
  expect(outcome.accepted).toBeGreaterThan(0);
  expect(outcome.deliveries).toBeGreaterThanOrEqual(outcome.accepted);
});
