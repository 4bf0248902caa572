/** @needs mongodb, nats, history: a node of the version before this one and one of this version serve together. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { startAlone } from "../support/alone.ts";
import { api } from "../support/http.ts";
import { startMongo } from "../support/mongo.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import { versionsBefore } from "../support/needs.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { checkOutFormer, type FormerVersion } from "../support/versions.ts";

const AGENTS = 8;
const mongo = await startMongo();
const versions = await versionsBefore();

("url" in mongo && versions.length ? describe : describe.skip)("a rolling upgrade", () => {
  let former: FormerVersion;
  let nats: NatsServer;
  let env: Record<string, string>;
  let before: TestServer;
  let after: TestServer | undefined;
  let admin: TestAgent;

  beforeAll(async () => {
    nats = await startNats();
    env = {
      MONGO_URL: "url" in mongo ? mongo.url : "",
      NATS_URL: nats.url,
      SECRET_KEY: randomBytes(32).toString("base64"),
      RATE_LIMIT_PER_MINUTE: "0",
    };
    former = await checkOutFormer();
    before = await startAlone({ env, root: former.folder });
    admin = await firstAgent(before);
  });
  afterAll(async () => {
    await after?.stop();
    await before?.stop();
    await nats?.stop();
    await former?.remove();
    if ("url" in mongo) await mongo.stop();
  });

  /** This version's, on the same record. */
  const startNext = (more: Record<string, string> = {}) =>
    startAlone({ env: { ...env, ...more }, beside: before });

  const at = (server: TestServer, agent: TestAgent): TestAgent => ({ ...agent, ...api(server, agent.token) });

  test("what one version accepts the other delivers, forward and back, and each goes on alone", async () => {
    const agents = await Promise.all(
      Array.from({ length: AGENTS }, async () => {
        const agent = await newAgent(before, admin);
        ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.rolling.*" }));
        return agent;
      }),
    );
    const now = await startNext();
    after = now;

    const round = async (name: string, by: TestServer[], from: TestServer[]) => {
      for (const [i, server] of by.entries()) {
        ok(await at(server, admin).post("/events", cloudEvent(`${name} ${i}`, { type: "com.rolling.x" })));
      }
      const received = agents.map((agent, i) =>
        receive(at(from[i % from.length] as TestServer, agent), by.length),
      );
      for (const deliveries of await Promise.all(received)) {
        const ids = deliveries.map(({ payload }) => payload.id);
        expect(ids.sort()).toEqual(by.map((_, i) => `${name} ${i}`));
      }
    };
    await round("from the old", [before, before, before], [now]);
    await round("from the new", [now, now, now], [before]);
    const later = await newAgent(now, at(now, admin));
    ok(await later.post(`/agents/${later.id}/interests`, { event_type: "com.rolling.*" }));
    agents.push(later);
    await round("from both", [before, now, before, now], [before, now]);

    const alone = async (server: TestServer, id: string) => {
      const publish = () => at(server, admin).post("/events", cloudEvent(id, { type: "com.rolling.x" }));
      // 200: it was taken by a try whose answer did not come.
      await settle(async () => [200, 202].includes((await publish()).status));
      for (const agent of agents) expect(await receive(at(server, agent), 1)).toHaveLength(1);
    };
    await before.end();
    await alone(now, "forward");

    await before.restart();
    await settle(async () => (await at(before, admin).get("/auth/me")).status === 200);
    await round("rolling back", [now, before], [before, now]);
    await now.end();
    await alone(before, "back");
  });

  test("a node of this version is ready next to one of the version before", async () => {
    await before.restart();
    await using gateway = await startNext({ SERVICES: "gateway" });
    const { status, body } = await api(gateway).get(`${gateway.root}/readyz`);
    expect([status, body.checks.services]).toEqual([200, "ok"]);
    expect((await at(gateway, admin).get("/auth/me")).status).toBe(200);
  });
});
