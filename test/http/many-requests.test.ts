/** @needs mongodb, nats: a gateway among nodes has no limit on how many requests it answers, or holds open. */
import { expect, test } from "@jest/globals";
import { cloudEvent, newAgent } from "../support/agents.ts";
import { onNodes } from "../support/on-nodes.ts";
import { openStream } from "../support/stream.ts";
import { ok } from "../support/tenancy.ts";

/** Of `MAX_WRITES_IN_FLIGHT`, which is also the limit of a node on running calls of an action. */
const LIMIT = 16;
/** Agents that connect at once, each with a key that the gateway does not know yet. */
const AGENTS = 200;
/** As many writes as one caller may have in progress. */
const WRITERS = LIMIT / 4;

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

  test("opens the streams of hundreds of agents at once, by their keys, next to other requests", async () => {
    const keys: string[] = [];
    const inTurn = (todo: (n: number) => Promise<unknown>) =>
      Promise.all(
        Array.from({ length: WRITERS }, async (_, first) => {
          for (let n = first; n < AGENTS; n += WRITERS) await todo(n);
        }),
      );
    await inTurn(async (n) => {
      const { id } = ok(await admin.post("/agents", { name: `agent ${n}`, delivery_mode: "poll" }));
      keys.push(ok(await admin.post(`/agents/${id}/keys`, { scopes: ["receive"] })).key);
    });
    const writing = inTurn(async (n) => ok(await admin.post("/events", cloudEvent(`beside ${n}`))));
    const streams = await Promise.all(
      keys.map((key) => openStream(`${nodes.gateway.url}/delivery/stream`, key)),
    );
    expect(streams.map(({ status }) => status)).toEqual(Array(AGENTS).fill(200));
    await writing;
    for (const stream of streams) stream.close();
  });
});
