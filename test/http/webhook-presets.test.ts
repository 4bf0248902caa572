import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readPayload } from "../../services/sense/ingest/payload.ts";
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
import { startShared } from "../support/shared.ts";
import { makeWorld, ok, refusal } from "../support/tenancy.ts";
import {
  acceptedEvent,
  deliver,
  githubHeaders,
  type Registration,
  register,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const server = await startShared();
const world = await makeWorld(server, "acme");
afterAll(() => server.stop());

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

const fields = {
  MessageSid: "SM1",
  SmsSid: "SM1",
  SmsStatus: "received",
  From: "+49151",
  Body: "hällo & so",
};

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

test("Twilio signs the address that it knows: the one of a proxy in front", async () => {
  const hook = await sender("twilio", { source: "proxied" });
  const { pathname } = new URL(hook.url);
  const { body, headers } = twilioForm(hook.signing_secret, `https://hooks.example.com${pathname}`, fields);
  expect((await deliver(hook.url, body, headers)).status).toBe(401);
  const forwarded = { ...headers, "X-Forwarded-Host": "hooks.example.com" };
  expect((await deliver(hook.url, body, forwarded)).status).toBe(204);
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
    const event = await eventOf(answer);
    expect(event).toMatchObject({
      type: `com.${name}.${kind}`,
      source: `/w/${world.slug}/${name}`,
      id: `${hook.id}:${sent.headers[header]}`,
      data: JSON.parse(sent.body),
    });
    expect((await post(hook, sent)).body).toEqual({ event_id: answer.body.event_id, status: "duplicate" });
    // No other signature counts, even with the right secret.
    const other = await deliver(hook.url, sent.body, serviceHeaders(hook.signing_secret, sent.body));
    expect(other).toMatchObject(refusal(401, "authentication_failed"));
  });
});

const events = async (source: string) =>
  ok(await world.admin.get(`/events?source=${encodeURIComponent(`/w/${world.slug}/${source}`)}`)).events.map(
    ({ payload }: { payload: { type: string } }) => payload.type,
  );

test("signed content of Twilio is one event in every encoding, and another at another address", async () => {
  const source = "twilio-encodings";
  const hook = await sender("twilio", { source });
  const fields = { MessageSid: "SM9", MessageStatus: "sent", Body: "five & ten", From: "+15550009" };
  const form = twilioForm(hook.signing_secret, hook.url, fields);
  const token = () => ({ ...form.headers, "I-Twilio-Idempotency-Token": randomUUID() });
  const { MessageSid, ...rest } = fields;
  const encodings = [
    form.body,
    form.body.split("&").reverse().join("&"),
    form.body.replace(/\+/g, "%20"),
    form.body.replace("SM9", "%53%4d9"),
    String(new URLSearchParams({ ...rest, From: `${rest.From}MessageSid${MessageSid}` })).replace(
      "MessageStatus",
      "MessageSt%61tus",
    ),
  ];
  for (const body of encodings) expect((await deliver(hook.url, body, token())).status).toBe(204);
  expect(await events(source)).toEqual(["com.twilio-encodings.message.sent"]);
  const twice = await deliver(hook.url, `${form.body}&MessageStatus=sent`, token());
  expect(twice).toMatchObject(refusal(401, "authentication_failed"));
  const other = `${hook.url}?leg=2`;
  const { body, headers } = twilioForm(hook.signing_secret, other, fields);
  for (let i = 0; i < 2; i++) expect((await deliver(other, body, headers)).status).toBe(204);
  expect(await events(source)).toHaveLength(2);
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

test("signed content has the first topic and id of a sender that has one for each body", async () => {
  const hook = await sender("github", { source: "one-topic" });
  const body = JSON.stringify({ action: "created", ref: randomUUID() });
  const as = (kind: string) => deliver(hook.url, body, githubHeaders(hook.signing_secret, body, kind));
  const first = await as("issue_comment");
  expect((await eventOf(first)).type).toBe("com.one-topic.issue_comment.created");
  const again = { event_id: first.body.event_id, status: "duplicate" };
  expect((await as("issue_comment")).body).toEqual(again);
  expect((await as("release")).body).toEqual({ ...again, differs: true });
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

test("an own mapping accepts every signature, the new ones too", async () => {
  const mapping = { entity: "/type", action: "/action" };
  const hook = await sender("linear", { source: "own", mapping });
  const event = await eventOf(
    await post(hook, linearRequest(hook.signing_secret, { type: "Issue", action: randomUUID() })),
  );
  expect(event.type).toMatch(/^com\.own\.issue\./);
});

const form = async (type: string, body: string) => {
  const hook = await register(world.admin, {
    ...{ name: "Forms", source: "forms" },
    mapping: { entity: "order", action: "/action", subject: "/name" },
  });
  const headers = { "Content-Type": type, ...serviceHeaders(hook.signing_secret, body) };
  const answer = await deliver(hook.url, body, headers);
  if (answer.body.status === "accepted") return (await eventOf(answer)).data;
  const [dead] = ok(await world.admin.get("/delivery/dlq?limit=1")).items;
  return dead.dlq_reason;
};
const FORM = "application/x-www-form-urlencoded";

test.each([
  [`${FORM}; charset=windows-1252`, "action=paid&name=M%FCller+%96+5%80", "Müller – 5€"],
  [`${FORM};charset="ISO-8859-2"`, "action=paid&name=%A3%F3d%BC", "Łódź"],
  [`${FORM}; Charset=utf-8`, "action=paid&name=M%C3%BCller=1&", "Müller=1"],
  [FORM, "action=paid&name=Müller", "Müller"],
])("a form in another charset is decoded by %s", async (type, body, name) => {
  expect(await form(type, body)).toEqual({ action: "paid", name });
});

test.each([
  [FORM, "action=paid&name=M%FCller", "not in utf-8: name its charset in Content-Type"],
  [`${FORM}; charset=klingon`, "action=paid", 'the charset "klingon" is not known'],
])("a form in another charset is a dead letter that says so for %s", async (type, body, why) => {
  expect(await form(type, body)).toContain(why);
});

test("a form in another charset may be JSON", () => {
  const read = readPayload(Buffer.from('{"city":"K\xf6ln"}', "latin1"), "application/json; charset=latin1");
  expect(read).toEqual({ payload: { city: "Köln" } });
  const wide = readPayload(Buffer.from('{"a":1}', "utf16le"), "application/json; charset=utf-16le");
  expect(wide).toEqual({ payload: { a: 1 } });
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
