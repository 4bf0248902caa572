import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
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
import { startServer, type TestServer } from "../support/server.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, type World } from "../support/tenancy.ts";
import {
  acceptedEvent,
  deliver,
  githubHeaders,
  type Registration,
  register,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

let server: TestServer;
let world: World;
beforeAll(async () => {
  const env = { OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", WEBHOOK_REFUSALS_PER_MINUTE: "0" };
  server = await startServer({ env });
  world = await makeWorld(server, "acme");
});
afterAll(() => server?.stop());

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

  test("sends commands as forms", async () => {
    const body = String(new URLSearchParams({ command: "/deploy", text: "app now", channel_id: "C1" }));
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await deliver(hook.url, body, { ...form, ...slackHeaders(hook.signing_secret, body) });
    expect(answer.status).toBe(200);
    expect((await latest()).payload).toMatchObject({ type: "com.slack.command.deploy", subject: "C1" });
  });
});

describe("Twilio", () => {
  const fields = {
    MessageSid: "SM1",
    SmsSid: "SM1",
    SmsStatus: "received",
    From: "+49151",
    Body: "hällo & so",
  };

  test("signs the address and the form; it is answered with an empty 204", async () => {
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

  test("signs the address that it knows: the one of a proxy in front", async () => {
    const hook = await sender("twilio", { source: "proxied" });
    const { pathname } = new URL(hook.url);
    const { body, headers } = twilioForm(hook.signing_secret, `https://hooks.example.com${pathname}`, fields);
    expect((await deliver(hook.url, body, headers)).status).toBe(401);
    const forwarded = { ...headers, "X-Forwarded-Host": "hooks.example.com" };
    expect((await deliver(hook.url, body, forwarded)).status).toBe(204);
  });
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
    const event = await eventOf(answer);
    expect(event).toMatchObject({
      type: `com.${name}.${kind}`,
      source: `/w/acme/${name}`,
      id: `${hook.id}:${sent.headers[header]}`,
      data: JSON.parse(sent.body),
    });
    expect((await post(hook, sent)).body).toEqual({ event_id: answer.body.event_id, status: "duplicate" });
    // No other signature counts, even with the right secret.
    const other = await deliver(hook.url, sent.body, serviceHeaders(hook.signing_secret, sent.body));
    expect(other).toMatchObject(refusal(401, "authentication_failed"));
  });
});

test("GitLab's signing token is Standard Webhooks; two pushes with one body are two events", async () => {
  const hook = await sender("gitlab", { source: "gitlab-signed" });
  const body = JSON.stringify({ object_kind: "push" });
  const signed = standardHeaders(hook.signing_secret, body, new Date(), "f5c1");
  const event = await eventOf(await deliver(hook.url, body, { ...signed, "X-Gitlab-Token": "other" }));
  expect(event).toMatchObject({ id: `${hook.id}:f5c1`, type: "com.gitlab-signed.push.received" });
  const token = { "X-Gitlab-Token": hook.signing_secret };
  for (const id of ["a", "b"])
    expect((await eventOf(await deliver(hook.url, body, { ...token, "Idempotency-Key": id }))).id).toBe(
      `${hook.id}:${id}`,
    );
});

test("an own mapping accepts every signature, the new ones too", async () => {
  const mapping = { entity: "/type", action: "/action" };
  const hook = await sender("linear", { source: "own", mapping });
  const event = await eventOf(
    await post(hook, linearRequest(hook.signing_secret, { type: "Issue", action: randomUUID() })),
  );
  expect(event.type).toMatch(/^com\.own\.issue\./);
});

test("what a preset cannot map is a dead letter with the place that is missing", async () => {
  const hook = await sender("sentry", { source: "broken" });
  const sent = sentryRequest(hook.signing_secret, "", { action: "created" });
  expect((await post(hook, sent)).body).toEqual({ event_id: null, status: "dead_lettered" });
  const { items } = ok(await world.admin.get("/delivery/dlq?limit=1"));
  expect(items[0].dlq_reason).toBe(
    "mapping error: header:Sentry-Hook-Resource is missing: expected the kind of an event of Sentry",
  );
});
