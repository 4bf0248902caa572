/** @needs mongodb, nats: a gateway among nodes has no limit on how many requests it answers, or holds open. */
import { expect, test } from "@jest/globals";
import { newAgent } from "../support/agents.ts";
import { onNodes } from "../support/on-nodes.ts";
import { openStream } from "../support/stream.ts";

/** Of `MAX_WRITES_IN_FLIGHT`, which is also the limit of a node on running calls of an action. */
const LIMIT = 16;

const settings = { EMBEDDER: "none", MAX_WRITES_IN_FLIGHT: String(LIMIT) };
await onNodes("a gateway among nodes", 1, settings, ({ nodes, admin }) => {
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
