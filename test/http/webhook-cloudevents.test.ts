import { afterAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import {
  acceptedEvent,
  deliver,
  type Registration,
  register,
  SHOP,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const STRUCTURED = { "Content-Type": "application/cloudevents+json" };
const BATCH = { "Content-Type": "application/cloudevents-batch+json; charset=utf-8" };

const server = await startShared();
const world = await makeWorld(server, "acme");
const newHook = (source: string) => register(world.admin, { name: source, source, mapping: "cloudevents" });
const hook = await newHook("events");
afterAll(() => server.stop());

/** Sends a body signed for a webhook. */
const send = ({ url, signing_secret }: Registration, body: string, headers: Record<string, string>) =>
  deliver(url, body, { ...serviceHeaders(signing_secret, body), ...headers });
const sendEvent = (to: Registration, event: object) => send(to, JSON.stringify(event), STRUCTURED);
const deadLetters = async () => ok(await world.admin.get("/delivery/dlq?limit=200")).items;

describe("a webhook for CloudEvents", () => {
  test("says so, and can be changed to a mapping and back", async () => {
    const { id } = await newHook("changing");
    const find = async () => {
      const { webhooks } = ok(await world.admin.get("/ingest/webhooks?limit=200"));
      return webhooks.find((each: Registration) => each.id === id).mapping;
    };
    expect(await find()).toBe("cloudevents");
    const change = (mapping: unknown) => world.admin.patch(`/ingest/webhooks/${id}`, { mapping });
    expect(ok(await change(SHOP.mapping)).mapping).toMatchObject(SHOP.mapping);
    expect(await find()).toMatchObject(SHOP.mapping);
    expect(ok(await change("cloudevents")).mapping).toBe("cloudevents");
    expect(await change("cloudevent")).toMatchObject(refusal(400, "validation_failed", { field: "mapping" }));
  });

  test("takes an event in structured mode as it is, once", async () => {
    const agent = await newAgent(server, world.admin);
    ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.example.structured" }));
    const event = cloudEvent("structured", {
      ...{ type: "com.example.structured", subject: "a/b", time: "2026-01-31T09:30:00.5Z" },
      ...{ urgent: true, count: 7, datacontenttype: "application/json", dataschema: "urn:schema:1" },
    });
    const { event_id } = await acceptedEvent(world.admin, await sendEvent(hook, event));
    const [{ payload }] = await receive(agent, 1);
    expect(payload).toEqual({ ...event, id: `${hook.id}:${event.source} structured` });
    expect(await sendEvent(hook, { ...event, data: "other" })).toMatchObject({
      status: 202,
      body: { event_id, status: "duplicate" },
    });
  });

  test("keeps events of two senders apart that have the same id", async () => {
    const other = await newHook("other-events");
    const [one, two] = [
      await sendEvent(hook, cloudEvent("same")),
      await sendEvent(other, cloudEvent("same")),
    ];
    expect([one.body.status, two.body.status]).toEqual(["accepted", "accepted"]);
  });

  test("takes an event in binary mode as it is", async () => {
    const headers = {
      ...{
        "ce-specversion": "1.0",
        "ce-id": "binary",
        "ce-source": "urn:test",
        "ce-type": "com.example.binary",
      },
      ...{ "ce-subject": "Gr%C3%BC%C3%9Fe%20%22x%22", "ce-region": "eu", "Content-Type": "text/plain" },
    };
    const { payload } = await acceptedEvent(world.admin, await send(hook, "grüße", headers));
    expect(payload).toEqual({
      ...{
        specversion: "1.0",
        id: `${hook.id}:urn:test binary`,
        source: "urn:test",
        type: "com.example.binary",
      },
      ...{ subject: 'Grüße "x"', region: "eu", datacontenttype: "text/plain", data: "grüße" },
    });
  });

  test("takes a body once, whatever the headers say that no signature covers", async () => {
    const headers = (id: string) => ({
      ...{ "ce-specversion": "1.0", "ce-id": id, "ce-source": "urn:test", "ce-type": `com.example.${id}` },
      "Content-Type": "application/json",
    });
    const body = JSON.stringify({ paid: 12 });
    const { event_id } = await acceptedEvent(world.admin, await send(hook, body, headers("first")));
    const replayed = { status: 202, body: { event_id, status: "duplicate" } };
    expect(await send(hook, body, headers("second"))).toMatchObject(replayed);
    const signed = () => ({
      ...standardHeaders(hook.signing_secret, body),
      "Content-Type": "application/json",
    });
    const [one, two] = [signed(), signed()];
    expect((await deliver(hook.url, body, { ...headers("third"), ...one })).body.status).toBe("accepted");
    expect((await deliver(hook.url, body, { ...headers("fourth"), ...one })).body.status).toBe("duplicate");
    expect((await deliver(hook.url, body, { ...headers("fourth"), ...two })).body.status).toBe("accepted");
  });

  test("says that a duplicate has another source or content, in the answer and in the log", async () => {
    const source = "differing";
    const hook = await register(world.admin, { source, mapping: "cloudevents" });
    const put = async (data: object, more: object = {}) => {
      const body = JSON.stringify({ ...cloudEvent("same-id"), data, ...more });
      return (await send(hook, body, { "Content-Type": "application/cloudevents+json" })).body;
    };
    const { event_id } = await put({ n: 1 });
    const duplicate = { event_id, status: "duplicate" };
    expect(await put({ n: 1 }, { time: "2026-01-31T09:30:00Z" })).toEqual(duplicate);
    expect(await put({ n: 2 })).toEqual({ ...duplicate, differs: true });
    expect(await put({ n: 1 }, { source: "urn:other" })).toMatchObject({ status: "accepted" });
    const reasons = async () =>
      ok(await world.admin.get(`/ingest/webhooks/${hook.id}/requests`)).requests.map(
        ({ reason }: { reason: string | null }) => reason,
      );
    const differs = "not stored: an event with this id exists, with another source or content";
    await settle(async () => (await reasons()).length === 4);
    expect(await reasons()).toEqual([null, differs, null, null]);
    const event = { ...cloudEvent("published"), source: "urn:one" };
    const publish = async (more: object) => (await world.admin.post("/events", { ...event, ...more })).body;
    const first = await publish({});
    expect(await publish({})).toEqual({ event_id: first.event_id, status: "duplicate" });
    for (const more of [{ source: "urn:two" }, { data: "other" }])
      expect(await publish(more)).toEqual({ event_id: first.event_id, status: "duplicate", differs: true });
  });

  test("takes a batch: each event by itself, in order", async () => {
    const { type: _, ...untyped } = cloudEvent("untyped");
    const events = [cloudEvent("in-batch-1"), untyped, cloudEvent("in-batch-2"), "none"];
    const answer = await send(hook, JSON.stringify(events), BATCH);
    expect(answer).toEqual({
      ...answer,
      status: 202,
      body: [
        { event_id: expect.stringMatching(/^evt_/), status: "accepted" },
        { event_id: null, status: "dead_lettered" },
        { event_id: expect.stringMatching(/^evt_/), status: "accepted" },
        { event_id: null, status: "dead_lettered" },
      ],
    });
    const letters = (await deadLetters()).slice(0, 2);
    const kept = letters.map((each: { payload: unknown }) => JSON.stringify(each.payload));
    expect(new Set(kept)).toEqual(new Set([JSON.stringify(untyped), '"none"']));
  });

  test("takes the signatures of Standard Webhooks, and nothing unsigned", async () => {
    const body = JSON.stringify(cloudEvent("standard"));
    const headers = { ...STRUCTURED, ...standardHeaders(hook.signing_secret, body) };
    await acceptedEvent(world.admin, await deliver(hook.url, body, headers));
    const altered = await deliver(hook.url, body.replace("standard", "altered"), headers);
    expect(altered).toMatchObject(refusal(401, "authentication_failed", {}));
  });

  test.each<[string, string, Record<string, string>, RegExp]>([
    [
      "no type",
      JSON.stringify({ ...cloudEvent("a"), type: undefined }),
      STRUCTURED,
      /^mapping error: type: expected/,
    ],
    [
      "no id",
      JSON.stringify({ ...cloudEvent("a"), id: undefined }),
      STRUCTURED,
      /^mapping error: id: expected/,
    ],
    [
      "a type of the service's own",
      JSON.stringify(cloudEvent("b", { type: "service.run.x" })),
      STRUCTURED,
      /reserved for the service/,
    ],
    ["no JSON", "{", STRUCTURED, /^mapping error: the body is not valid JSON/],
    [
      "more than 100 events",
      JSON.stringify(Array(101).fill({})),
      BATCH,
      /^mapping error: the batch is 101 events/,
    ],
    ["no batch", "{}", BATCH, /^mapping error: the batch is object: expected an array of at most 100 events/],
    [
      "data that is not what it says",
      "{",
      { "ce-specversion": "1.0", "ce-id": "c", "Content-Type": "application/json" },
      /^mapping error: data: expected valid JSON/,
    ],
  ])("keeps what has %s as a dead letter", async (what, body, headers, reason) => {
    const own = await newHook(`dead-${what.replace(/\W/g, "-")}`);
    expect(await send(own, body, headers)).toMatchObject({
      status: 202,
      body: { event_id: null, status: "dead_lettered" },
    });
    const [letter] = (await deadLetters()).filter(({ source }: { source: string }) =>
      own.url.endsWith(source),
    );
    expect(letter.dlq_reason).toMatch(reason);
  });

  test("takes what another mapping could not map, when it is replayed", async () => {
    const mapped = await register(world.admin, { ...SHOP, source: "mended" });
    const event = cloudEvent("mended", { type: "com.example.mended" });
    expect((await sendEvent(mapped, event)).body.status).toBe("dead_lettered");
    ok(await world.admin.patch(`/ingest/webhooks/${mapped.id}`, { mapping: "cloudevents" }));
    const [letter] = (await deadLetters()).filter(
      ({ source }: { source: string }) => source === `/w/${world.slug}/mended`,
    );
    ok(await world.admin.post(`/delivery/dlq/${letter.id}/replay`));
    const found = await settle(
      async () => ok(await world.admin.get("/events?type=com.example.mended")).events[0],
    );
    const { payload } = ok(await world.admin.get(`/events/${found.event_id}`));
    expect(payload).toEqual({ ...event, id: `${mapped.id}:${event.source} mended` });
  });

  test("shows what it makes of a sample", async () => {
    const path = `/ingest/webhooks/${hook.id}:test`;
    const payload = cloudEvent("sample");
    expect(ok(await world.admin.post(path, { payload }))).toEqual({
      event: { ...payload, id: `${hook.id}:${payload.source} sample` },
      error: null,
    });
    expect(ok(await world.admin.post(path, { payload: {} })).error).toMatch(/^mapping error: specversion/);
  });
});

describe("the handshake of web hooks for event delivery", () => {
  async function ask(path: string, headers: Record<string, string> = {}) {
    const { status, headers: given } = await fetch(server.root + path, { method: "OPTIONS", headers });
    const allowed = (what: string) => given.get(`webhook-allowed-${what}`);
    return { status, allow: given.get("allow"), origin: allowed("origin"), rate: allowed("rate") };
  }
  const origin = "eventemitter.example.com";
  const granted = { status: 200, allow: "POST, OPTIONS", origin };

  test.each([
    ["a source", "/w/SLUG/events"],
    ["a tenant", "/w/SLUG"],
    ["a source that nobody registered", "/w/SLUG/none"],
    ["an unknown tenant", "/w/nobody/none"],
  ])("permits a sender to deliver to %s", async (_what, path) => {
    const headers = { "WebHook-Request-Origin": origin, "WebHook-Request-Rate": "120" };
    expect(await ask(path.replace("SLUG", world.slug), headers)).toEqual({ ...granted, rate: "120" });
  });

  test.each([
    ["6000", "60000"],
    ["6000", undefined],
    ["6000", "many"],
    ["1", "1"],
  ])("permits %s a minute where %s were asked for", async (rate, asked) => {
    const headers = { "WebHook-Request-Origin": origin, ...(asked && { "WebHook-Request-Rate": asked }) };
    expect(await ask(`/w/${world.slug}`, headers)).toEqual({ ...granted, rate });
  });

  test.each([[undefined], ["not an origin"], ["x".repeat(300)]])("permits nothing to %s", async (given) => {
    const headers = given === undefined ? {} : { "WebHook-Request-Origin": given };
    const none = { status: 200, allow: "POST, OPTIONS", origin: null, rate: null };
    expect(await ask(`/w/${world.slug}`, headers as Record<string, string>)).toEqual(none);
  });

  test("is named in 405 answers of webhook addresses only", async () => {
    const wrong = await api(server).get(`${server.root}/w/${world.slug}`);
    expect(wrong).toMatchObject(refusal(405, "method_not_allowed", { allow: ["POST", "OPTIONS"] }));
    expect(await ask("/v1/events", { "WebHook-Request-Origin": origin })).toMatchObject({
      status: 405,
      origin: null,
    });
  });
});
