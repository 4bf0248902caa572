import { beforeAll, describe, expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive } from "../support/agents.ts";
import { api } from "../support/http.ts";
import {
  gitlabRequest,
  linearRequest,
  type Sent,
  sentryRequest,
  shopifyRequest,
  slackHeaders,
  twilioForm,
  twilioJson,
} from "../support/senders.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import {
  acceptedEvent,
  deliver,
  githubHeaders,
  type Registration,
  register,
  SHOP,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const STRUCTURED = { "Content-Type": "application/cloudevents+json" };
const BATCH = { "Content-Type": "application/cloudevents-batch+json; charset=utf-8" };

const server = await useShared();
const world = await makeWorld(server, "acme");
const newHook = (source: string) => register(world.admin, { name: source, source, mapping: "cloudevents" });
const hook = await newHook("events");

const binary = (id: string) => ({
  ...{ "ce-specversion": "1.0", "ce-id": id, "ce-source": "urn:test", "ce-type": `com.example.${id}` },
});
/** Sends a body signed for a webhook. */
const send = ({ url, signing_secret }: Registration, body: string, headers: Record<string, string>) =>
  deliver(url, body, { ...serviceHeaders(signing_secret, body), ...headers });
const sendEvent = (to: Registration, event: object) => send(to, JSON.stringify(event), STRUCTURED);
const deadLetters = async () => ok(await world.admin.get("/delivery/dlq?limit=200")).items;
const deadLetter = async ({ url }: Registration) =>
  (await deadLetters()).find(({ source }: { source: string }) => url.endsWith(source));

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
    await refused(change("cloudevent"), "validation_failed", "mapping");
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
    const { status, body } = await sendEvent(hook, { ...event, data: "other" });
    expect([status, body]).toMatchObject([202, { event_id, status: "duplicate" }]);
  });

  test("keeps events of two senders apart that have the same id", async () => {
    const other = await newHook("other-events");
    for (const at of [hook, other])
      expect((await sendEvent(at, cloudEvent("same"))).body.status).toBe("accepted");
  });

  test("takes an event in binary mode as it is", async () => {
    const headers = {
      ...binary("binary"),
      ...{ "ce-subject": "Gr%C3%BC%C3%9Fe%20%22x%22", "ce-region": "eu", "Content-Type": "text/plain" },
    };
    const { payload } = await acceptedEvent(world.admin, await send(hook, "grüße", headers));
    expect(payload).toEqual({
      ...{ specversion: "1.0", id: `${hook.id}:urn:test binary`, source: "urn:test" },
      ...{ type: "com.example.binary", subject: 'Grüße "x"', region: "eu" },
      ...{ datacontenttype: "text/plain", data: "grüße" },
    });
  });

  test("takes a body once, whatever the headers say that no signature covers", async () => {
    const json = { "Content-Type": "application/json" };
    const headers = (id: string) => ({ ...binary(id), ...json });
    const body = JSON.stringify({ paid: 12 });
    const { event_id } = await acceptedEvent(world.admin, await send(hook, body, headers("first")));
    const replayed = { status: 202, body: { event_id, status: "duplicate" } };
    expect(await send(hook, body, headers("second"))).toMatchObject(replayed);
    const signed = () => ({ ...standardHeaders(hook.signing_secret, body), ...json });
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
    const accepted = { event_id: expect.stringMatching(/^evt_/), status: "accepted" };
    const dead = { event_id: null, status: "dead_lettered" };
    expect([answer.status, answer.body]).toEqual([202, [accepted, dead, accepted, dead]]);
    const letters = (await deadLetters()).slice(0, 2);
    const kept = letters.map((each: { payload: unknown }) => JSON.stringify(each.payload));
    expect(new Set(kept)).toEqual(new Set([JSON.stringify(untyped), '"none"']));
  });

  const text = (more: object) => JSON.stringify({ ...cloudEvent("a"), ...more });
  test.each<[string, string, Record<string, string>, RegExp]>([
    ["no type", text({ type: undefined }), STRUCTURED, /^mapping error: type: expected/],
    ["no id", text({ id: undefined }), STRUCTURED, /^mapping error: id: expected/],
    ["a type of the service's own", text({ type: "service.run.x" }), STRUCTURED, /reserved for the service/],
    ["no JSON", "{", STRUCTURED, /^mapping error: the body is not valid JSON/],
    ["101 events", JSON.stringify(Array(101).fill({})), BATCH, /^mapping error: the batch is 101 events/],
    ["no batch", "{}", BATCH, /^mapping error: the batch is object: expected an array of at most 100 events/],
    [
      "data that is not what it says",
      "{",
      { "ce-specversion": "1.0", "ce-id": "c", "Content-Type": "application/json" },
      /^mapping error: data: expected valid JSON/,
    ],
  ])("keeps what has %s as a dead letter", async (what, body, headers, reason) => {
    const own = await newHook(`dead-${what.replace(/\W/g, "-")}`);
    const answer = await send(own, body, headers);
    expect([answer.status, answer.body]).toEqual([202, { event_id: null, status: "dead_lettered" }]);
    expect((await deadLetter(own)).dlq_reason).toMatch(reason);
  });

  test("takes what another mapping could not map, when it is replayed", async () => {
    const mapped = await register(world.admin, { ...SHOP, source: "mended" });
    const event = cloudEvent("mended", { type: "com.example.mended" });
    expect((await sendEvent(mapped, event)).body.status).toBe("dead_lettered");
    ok(await world.admin.patch(`/ingest/webhooks/${mapped.id}`, { mapping: "cloudevents" }));
    ok(await world.admin.post(`/delivery/dlq/${(await deadLetter(mapped)).id}/replay`));
    const list = "/events?type=com.example.mended";
    const found = await settle(async () => ok(await world.admin.get(list)).events[0]);
    const { payload } = ok(await world.admin.get(`/events/${found.event_id}`));
    expect(payload).toEqual({ ...event, id: `${mapped.id}:${event.source} mended` });
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

  const asked = (rate?: string) => ({
    "WebHook-Request-Origin": origin,
    ...(rate && { "WebHook-Request-Rate": rate }),
  });
  test.each<[string, string, Record<string, string>, string]>([
    ["a source", "/w/SLUG/events", asked("120"), "120"],
    ["a tenant", "/w/SLUG", asked("1"), "1"],
    ["a source that nobody registered", "/w/SLUG/none", asked("60000"), "6000"],
    ["an unknown tenant", "/w/nobody/none", asked(), "6000"],
    ["who asks for no number", "/w/SLUG", asked("many"), "6000"],
  ])("permits a sender to deliver to %s", async (_what, path, headers, rate) =>
    expect(await ask(path.replace("SLUG", world.slug), headers)).toEqual({ ...granted, rate }),
  );

  test.each([[undefined], ["not an origin"], ["x".repeat(300)]])("permits nothing to %s", async (given) => {
    const headers = given === undefined ? {} : { "WebHook-Request-Origin": given };
    const none = { status: 200, allow: "POST, OPTIONS", origin: null, rate: null };
    expect(await ask(`/w/${world.slug}`, headers as Record<string, string>)).toEqual(none);
  });

  test("is named in 405 answers of webhook addresses only", async () => {
    const wrong = await api(server).get(`${server.root}/w/${world.slug}`);
    await refused(wrong, "method_not_allowed", { allow: ["POST", "OPTIONS"] });
    const elsewhere = await ask("/v1/events", { "WebHook-Request-Origin": origin });
    expect(elsewhere).toMatchObject({ status: 405, origin: null });
  });
});

const sender = (mapping: string, more: object = {}) =>
  register(world.admin, { name: mapping, source: mapping, mapping, ...more });

const post = ({ url }: Registration, { body, headers }: Sent) => deliver(url, body, headers);
const eventOf = async (answer: Parameters<typeof acceptedEvent>[1]) =>
  (await acceptedEvent(world.admin, answer)).payload;
const latest = async () => ok(await world.admin.get("/events?limit=1")).events[0];

describe("Slack", () => {
  let hook: Registration;
  const signed = (payload: object, at?: number): Sent => {
    const body = JSON.stringify(payload);
    const headers = { "Content-Type": "application/json", ...slackHeaders(hook.signing_secret, body, at) };
    return { body, headers };
  };
  beforeAll(async () => {
    hook = await sender("slack", { signing_secret: "8f742231b10e8888abcd99yyyzzz85a5" });
  });

  test("gets its challenge back, and no event is published", async () => {
    const before = await latest();
    const answer = await post(hook, signed({ token: "t", challenge: "3eZbrw1aB", type: "url_verification" }));
    expect(answer).toMatchObject({ status: 200, body: { challenge: "3eZbrw1aB" } });
    expect(await latest()).toEqual(before);
    const unsigned = await deliver(hook.url, '{"type":"url_verification","challenge":"x"}', {});
    expect(unsigned.status).toBe(401);
  });

  test("is answered with an empty 200; its retry is the same event", async () => {
    const payload = {
      ...{ type: "event_callback", event_id: "Ev08MFMKH6", event_time: 1769851800 },
      event: { type: "message", channel: "C061EG9T2", text: "hello" },
    };
    const answer = await post(hook, signed(payload));
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    const event = await latest();
    expect(event.payload).toMatchObject({ type: "com.slack.event.message", subject: "C061EG9T2" });
    expect((await post(hook, signed(payload, Date.now() - 60_000))).status).toBe(200);
    expect((await latest()).event_id).toBe(event.event_id);
    expect((await post(hook, signed(payload, Date.now() - 400_000))).status).toBe(401);
  });
});

const sms = { MessageSid: "SM1", SmsSid: "SM1", SmsStatus: "received" };
const fields = { ...sms, From: "+49151", Body: "hällo & so" };

test("Twilio signs the address and the form; it is answered with an empty 204", async () => {
  const hook = await sender("twilio");
  const form = twilioForm(hook.signing_secret, hook.url, fields);
  const answer = await post(hook, form);
  expect([answer.status, answer.body]).toEqual([204, undefined]);
  const event = await latest();
  expect(event.payload).toMatchObject({ type: "com.twilio.message.received", subject: "SM1" });
  expect(ok(await world.admin.get(`/events/${event.event_id}`)).payload).toMatchObject({
    id: `${hook.id}:${form.headers["I-Twilio-Idempotency-Token"]}`,
    data: fields,
  });
  const json = twilioJson(hook.signing_secret, hook.url, { CallSid: "CA1", CallStatus: "completed" });
  expect((await deliver(json.url, json.body, json.headers)).status).toBe(204);
  expect((await latest()).payload).toMatchObject({ type: "com.twilio.call.completed", subject: "CA1" });
  expect((await deliver(hook.url, json.body, json.headers)).status).toBe(401);
});

test("Twilio signs the address with the escapes that were configured", async () => {
  const hook = await sender("twilio", { source: "Anna's calls (ä) 24:7" });
  expect(hook.url).toMatch(/\/Anna's%20calls%20\(%C3%A4\)%2024%3A7$/);
  const spellings = [
    hook.url,
    hook.url.replace(/%../g, (one) => one.toLowerCase()),
    hook.url.replace("%C3%A4", "ä").replace("%3A", ":"),
    hook.url.replace(/['()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  ];
  for (const [n, signed] of spellings.entries()) {
    const { body, headers } = twilioForm(hook.signing_secret, `${signed}?x[]=~1`, { ...fields, n: `${n}` });
    const answer = await deliver(`${hook.url}?x%5B%5D=%7E1`, body, headers);
    expect([signed, answer.status]).toEqual([signed, 204]);
    expect((await deliver(`${hook.url}?x%5B%5D=%2F1`, body, headers)).status).toBe(401);
  }
});

describe("a sender with its delivery's id in a header", () => {
  const CASES: [string, (secret: string) => Sent, string, string][] = [
    [
      "shopify",
      (key) => shopifyRequest(key, "orders/create", { id: 7 }),
      "X-Shopify-Webhook-Id",
      "orders.create",
    ],
    [
      "linear",
      (key) => linearRequest(key, { type: "Issue", action: "update", data: { id: "i1" } }),
      ...(["Linear-Delivery", "issue.update"] as const),
    ],
    [
      "sentry",
      (key) => sentryRequest(key, "issue", { action: "resolved", data: { issue: { id: "7" } } }),
      ...(["Request-ID", "issue.resolved"] as const),
    ],
    [
      "gitlab",
      (key) => gitlabRequest(key, { object_kind: "push", project: { path_with_namespace: "a/b" } }),
      ...(["Idempotency-Key", "push.received"] as const),
    ],
    [
      "github",
      (key) => ({ body: '{"zen":"Keep it."}', headers: githubHeaders(key, '{"zen":"Keep it."}', "ping") }),
      ...(["X-GitHub-Delivery", "ping.received"] as const),
    ],
  ];

  test.each(CASES)("%s: an event of its kind, once", async (name, make, header, kind) => {
    const hook = await sender(name);
    const sent = make(hook.signing_secret);
    const answer = await post(hook, sent);
    expect(await eventOf(answer)).toMatchObject({
      type: `com.${name}.${kind}`,
      source: `/w/${world.slug}/${name}`,
      id: `${hook.id}:${sent.headers[header]}`,
      data: JSON.parse(sent.body),
    });
    expect((await post(hook, sent)).body).toEqual({ event_id: answer.body.event_id, status: "duplicate" });
    // No other signature counts, even with the right secret.
    const other = await deliver(hook.url, sent.body, serviceHeaders(hook.signing_secret, sent.body));
    await refused(other, "authentication_failed");
  });
});

test("signed content is one event for each topic that its sender names at once, under whatever id", async () => {
  const source = "topics";
  const hook = await sender("shopify", { source });
  const at = (topic: string, more = {}) => {
    const { body, headers } = shopifyRequest(hook.signing_secret, topic, { id: 12, total: "9.00" });
    return post(hook, { body, headers: { ...headers, ...more } });
  };
  const created = await at("orders/create");
  await eventOf(created);
  const again = { event_id: created.body.event_id, status: "duplicate" };
  expect((await at("orders/create")).body).toEqual(again);
  const paid = await at("orders/paid");
  expect((await eventOf(paid)).type).toBe("com.topics.orders.paid");
  expect((await at("orders/paid")).body).toEqual({ ...again, event_id: paid.body.event_id });
  await eventOf(await at("orders/paid", { "X-Shopify-Shop-Domain": "other.myshopify.com" }));
  await eventOf(await at("orders/fulfilled"));
  // No sender has so many.
  expect((await at("orders/delete")).body).toEqual({ ...again, differs: true });
});

test("signed content that could not be mapped has no other topic when it comes again", async () => {
  const hook = await sender("sentry", { source: "without-topic" });
  const sent = sentryRequest(hook.signing_secret, "", { action: "created" });
  const named = { ...sent.headers, "Request-ID": sent.headers["Request-ID"] as string };
  expect((await post(hook, sent)).body.status).toBe("dead_lettered");
  const forged = { ...sent, headers: { ...named, "Sentry-Hook-Resource": "issue" } };
  expect((await post(hook, forged)).body.status).toBe("dead_lettered");
});

test("GitLab's signing token is Standard Webhooks", async () => {
  const hook = await sender("gitlab", { source: "gitlab-signed" });
  const body = JSON.stringify({ object_kind: "push" });
  const signed = standardHeaders(hook.signing_secret, body, new Date(), "f5c1");
  const event = await eventOf(await deliver(hook.url, body, { ...signed, "X-Gitlab-Token": "other" }));
  expect(event).toMatchObject({ id: `${hook.id}:f5c1`, type: "com.gitlab-signed.push.received" });
});

test("two pushes of GitLab with one body are two events", async () => {
  const hook = await sender("gitlab", { source: "gitlab-twice" });
  const body = JSON.stringify({ object_kind: "push" });
  const token = { "X-Gitlab-Token": hook.signing_secret };
  for (const id of ["a", "b"])
    expect((await eventOf(await deliver(hook.url, body, { ...token, "Idempotency-Key": id }))).id).toBe(
      `${hook.id}:${id}`,
    );
});
