/** @needs mongodb, nats: a gateway among nodes has no limit on how many requests it answers, or holds open. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import { startMongo } from "../support/mongo.ts";
import { type Nodes, startNodes } from "../support/nodes.ts";
import { openStream } from "../support/stream.ts";

/** Of `MAX_WRITES_IN_FLIGHT`, which is also the limit of a node on running calls of an action. */
const LIMIT = 16;

const mongo = await startMongo();

("url" in mongo ? describe : describe.skip)("a gateway among nodes", () => {
  let nodes: Nodes;
  let admin: TestAgent;

  beforeAll(async () => {
    const settings = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", MAX_WRITES_IN_FLIGHT: String(LIMIT) };
    nodes = await startNodes("url" in mongo ? mongo.url : "", 1, settings);
    admin = await firstAgent(nodes.gateway);
  });
  afterAll(async () => {
    await nodes?.stop();
    if ("url" in mongo) await mongo.stop();
  });

  test("answers far more requests, one after the other, than may run at once", async () => {
    for (let n = 0; n < 4 * LIMIT; n++) expect((await admin.get("/agents?limit=1")).status).toBe(200);
    for (let n = 0; n < 4 * LIMIT; n++)
      expect((await fetch(`${nodes.gateway.root}/no-such-page`)).status).toBe(404);
    expect((await fetch(`${nodes.gateway.root}/readyz`)).status).toBe(200);
  });

  test("answers while more receivers than that wait by stream", async () => {
    const streams = [];
    for (let n = 0; n < 2 * LIMIT; n++) {
      const { token } = await newAgent(nodes.gateway, admin);
      streams.push(await openStream(`${nodes.gateway.url}/delivery/stream`, token));
    }
    expect((await admin.get("/agents?limit=1")).status).toBe(200);
    for (const stream of streams) stream.close();
  });
});
