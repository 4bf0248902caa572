/** @needs mongodb: the events domain on the other driver. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, fannedOut, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { startMongo } from "../support/mongo.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const mongo = await startMongo();
const here = "url" in mongo;

(here ? describe : describe.skip)("events on MongoDB", () => {
  let server: TestServer;
  let admin: TestAgent;
  let agent: TestAgent;

  beforeAll(async () => {
    if (!here) return;
    const SECRET_KEY = randomBytes(32).toString("base64");
    server = await startServer({ env: { MONGO_URL: mongo.url, SECRET_KEY, RATE_LIMIT_PER_MINUTE: "0" } });
    admin = await firstAgent(server);
    agent = await newAgent(server, admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.*" }));
  });
  afterAll(async () => {
    await server?.stop();
    if (here) await mongo.stop();
  });

  const publishMany = (name: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => admin.post("/events", cloudEvent(`${name}-${n}`))));

  test("concurrent publishes are each accepted once and delivered once", async () => {
    const first = await publishMany("many", 100);
    const again = await publishMany("many", 100);
    expect(first.map(({ status }) => status)).toEqual(Array(100).fill(202));
    expect(again.map(({ status }) => status)).toEqual(Array(100).fill(200));
    const events = (await receive(agent, 100)).map(({ event_id }) => event_id);
    expect(events.sort()).toEqual(first.map(({ body }) => body.event_id).sort());
  });

  test("the page of an event and the lists show its outcome", async () => {
    const elsewhere = await admin.post("/events", cloudEvent("many-0", { source: "urn:other" }));
    const page = await fannedOut(admin, elsewhere.body.event_id);
    expect(page).toMatchObject({ duplicate_sources: 1, matched_count: 1, deliveries: { acknowledged: 1 } });
    const { event_id } = ok(await admin.post("/events", cloudEvent("lonely", { type: "org.lonely" })));
    await fannedOut(admin, event_id);
    const expected = [{ event_id, matched_count: 0 }];
    expect(ok(await admin.get("/events?unmatched=true")).events).toMatchObject(expected);
    const { events, next_cursor } = ok(await admin.get("/events?type=com.*&limit=60"));
    const rest = ok(await admin.get(`/events?type=com.*&limit=60&cursor=${next_cursor}`));
    expect([events.length, rest.events.length, rest.next_cursor]).toEqual([60, 40, null]);
  });

  test("delivers events that a killed node had accepted but not fanned out, after its lease ends", async () => {
    const accepted = (await publishMany("killed", 50)).map(({ body }) => body.event_id);
    await server.kill();
    await server.restart();
    const done = () => Promise.all(accepted.map((event_id) => fannedOut(admin, event_id)));
    await settle(done, { what: "all events to be fanned out" });
    const events = (await receive(agent, 50)).map(({ event_id }) => event_id);
    expect(events.sort()).toEqual(accepted.sort());
  });
});
