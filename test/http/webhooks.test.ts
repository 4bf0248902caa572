import { beforeAll, describe, expect, test } from "@jest/globals";
import { newAgent, receive, type TestAgent } from "../support/agents.ts";
import { githubDeliveries } from "../support/github.ts";
import { type Answer, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, ok, refusal, refused, type World } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";
import {
  acceptedEvent,
  deliver,
  githubHeaders,
  hexSignature,
  order,
  type Registration,
  register,
  SHOP,
  send,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const server = await useShared();
const world = await makeWorld(server, "acme");

const eventOf = (answer: Answer) => acceptedEvent(world.admin, answer);

const latestEvent = async ({ admin }: World) => ok(await admin.get("/events?limit=1")).events[0]?.event_id;
const deadLetters = async ({ admin }: World) => ok(await admin.get("/delivery/dlq?limit=200")).items;

describe("a registration", () => {
  test("gives its address and its secret once", async () => {
    const made = await world.admin.post("/ingest/webhooks", SHOP);
    expect(made.status).toBe(201);
    const { signing_secret, ...hook } = made.body;
    expect(hook).toEqual({
      ...{ id: expect.stringMatching(/^whk_/), name: "Shop", source: "shop" },
      mapping: { entity: "order", action: "/what", id: null, subject: null, data: null },
      ...{ url: `${server.root}/w/${world.slug}/shop`, signature: null, last_request: null },
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: hook.created_at,
    });
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { webhooks, total } = ok(await world.admin.get("/ingest/webhooks"));
    expect(webhooks).toContainEqual(hook);
    expect(total).toBe(webhooks.length);
    expect(JSON.stringify(webhooks)).not.toContain("whsec_");
  });

  test("takes a secret that the sender made, if it is long enough", async () => {
    const signing_secret = "a-secret-that-the-sender-has-made";
    const hook = await register(world.admin, { ...SHOP, signing_secret });
    expect(hook.signing_secret).toBe(signing_secret);
    await eventOf(await send(hook, order({ n: "own secret" })));
    const answer = await world.admin.post("/ingest/webhooks", { ...SHOP, signing_secret: "too-short" });
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field: "signing_secret" }));
    expect(JSON.stringify(answer.body)).not.toContain("too-short");
  });

  test.each([
    ["mapping.id", { ...SHOP.mapping, id: "/a~7" }],
    ["mapping.entity", { ...SHOP.mapping, entity: "!" }],
  ])("refuses %s that can map nothing", async (field, mapping) => {
    const answer = await world.admin.post("/ingest/webhooks", { ...SHOP, mapping });
    expect(answer).toMatchObject(refusal(400, "validation_error", { field }));
  });

  test("refuses a secret that its signatures cannot use", async () => {
    const { admin } = world;
    const refused = refusal(400, "validation_error", { field: "signing_secret" });
    const create = (mapping: unknown, signing_secret: string) =>
      admin.post("/ingest/webhooks", { name: "s", source: "secrets", mapping, signing_secret });
    for (const mapping of ["standard_webhooks", "cloudevents", { entity: "a", action: "b" }])
      expect(await create(mapping, "whsec_QUJD..............")).toMatchObject(refused);
    expect(await create("standard_webhooks", "correct horse battery".replaceAll(" ", "-"))).toMatchObject(
      refused,
    );
    const stripe = ok(await create("stripe", "whsec_not-base64-but-stripe-uses-the-text"));
    const own = ok(await create("standard_webhooks", "C2FVsBQIhrscChlQIMV+b5sSYspob7oD"));
    const rotate = ({ id }: { id: string }) =>
      admin.post(`/ingest/webhooks/${id}:rotate`, { signing_secret: "whsec_QUJD.............." });
    expect(await rotate(own)).toMatchObject(refused);
    ok(await rotate(stripe));
    const change = { mapping: "standard_webhooks" };
    expect(await admin.patch(`/ingest/webhooks/${stripe.id}`, change)).toMatchObject(refused);
  });

  test("is one of 50 at most, each tried at the address without a source", async () => {
    const full = await makeWorld(server, "full");
    const hooks: Registration[] = [];
    for (let n = 0; n < 50; n++) hooks.push(await register(full.admin, { ...SHOP, source: `shop-${n}` }));
    const rule = { rule: "webhook_limit" };
    const answer = await full.admin.post("/ingest/webhooks", SHOP);
    expect(answer).toMatchObject(refusal(422, "business_rule_violation", rule));
    const body = order();
    const { signing_secret } = hooks.at(-1) as Registration;
    const url = `${server.root}/w/${full.slug}`;
    expect((await deliver(url, body, serviceHeaders(signing_secret, body))).status).toBe(202);
  });

  test("shows what it makes of a sample, and publishes nothing", async () => {
    const hook = await register(world.admin);
    const before = await latestEvent(world);
    const sample = githubDeliveries().find(({ name }) => name === "issues");
    const path = `/ingest/webhooks/${hook.id}:test`;
    const headers = { "X-GitHub-Event": "issues", "X-GitHub-Delivery": "d-1" };
    const { event, error } = ok(await world.admin.post(path, { payload: sample?.payload, headers }));
    expect(error).toBeNull();
    expect(event).toMatchObject({
      id: `${hook.id}:d-1`,
      source: `/w/${world.slug}/github`,
      type: `com.github.issues.${sample?.payload.action}`,
      subject: sample?.payload.repository.full_name,
      data: sample?.payload,
    });
    expect(ok(await world.admin.post(path, { payload: { action: "opened" } }))).toEqual({
      event: null,
      error: "mapping error: entity: header:X-GitHub-Event is missing: expected a string or a number",
    });
    expect(await latestEvent(world)).toBe(before);
  });

  test("may name a header in UTF-8 or in Latin-1", async () => {
    const mapping = { ...SHOP.mapping, subject: "header:X-About" };
    const hook = await register(world.admin, { ...SHOP, mapping });
    // fetch takes a header as the Latin-1 characters of its bytes.
    for (const [n, about] of [Buffer.from("Straße").toString("latin1"), "Straße"].entries()) {
      const event = await eventOf(await send(hook, order({ n }), { "X-About": about }));
      expect(event.payload.subject).toBe("Straße");
    }
  });

  test("ends when it is deleted; what came by it stays", async () => {
    const hook = await register(world.admin, SHOP);
    const { event_id } = await eventOf(await send(hook, order({ n: "before the end" })));
    expect((await world.admin.del(`/ingest/webhooks/${hook.id}`)).status).toBe(204);
    expect((await send(hook, order({ n: "after the end" }))).status).toBe(401);
    expect((await world.admin.get(`/events/${event_id}`)).status).toBe(200);
    expect((await world.admin.del(`/ingest/webhooks/${hook.id}`)).status).toBe(404);
  });
});

describe("GitHub's webhooks", () => {
  let hook: Registration;
  let agent: TestAgent;
  beforeAll(async () => {
    hook = await register(world.admin);
    agent = await newAgent(server, world.admin);
    ok(await world.admin.post(`/agents/${agent.id}/interests`, { event_type: "com.github.*" }));
  });

  test("reach an agent that wants them, whole, each once", async () => {
    const sent = githubDeliveries().filter(({ payload }) => typeof payload.action === "string");
    expect(sent.length).toBeGreaterThan(10);
    for (const { name, payload } of sent) {
      const body = JSON.stringify(payload);
      expect((await deliver(hook.url, body, githubHeaders(hook.signing_secret, body, name))).status).toBe(
        202,
      );
    }
    const events = (await receive(agent, sent.length)).map(({ payload }) => payload);
    expect(events).toHaveLength(sent.length);
    const byType = new Map(events.map((event) => [event.type, event]));
    for (const { name, payload } of sent)
      expect(byType.get(`com.github.${name}.${payload.action}`)?.data).toEqual(payload);
  });

  test("are known again when GitHub sends them again", async () => {
    const body = JSON.stringify({ action: "opened", again: true });
    const headers = githubHeaders(hook.signing_secret, body, "issues");
    const first = await eventOf(await deliver(hook.url, body, headers));
    expect(first.payload.id).toBe(`${hook.id}:${headers["X-GitHub-Delivery"]}`);
    const again = await deliver(hook.url, body, headers);
    expect(again).toMatchObject({ status: 202, body: { event_id: first.event_id, status: "duplicate" } });
    // The signature covers the body alone, so anybody could send it again under another id.
    for (const headers of [
      githubHeaders(hook.signing_secret, body, "issues"),
      githubHeaders(hook.signing_secret, body, "releases"),
      { ...githubHeaders(hook.signing_secret, body, "issues"), "webhook-id": "msg_other" },
      { ...githubHeaders(hook.signing_secret, body, "issues"), "X-GitHub-Delivery": "" },
    ])
      expect(await deliver(hook.url, body, headers)).toMatchObject({
        status: 202,
        body: { event_id: first.event_id, status: "duplicate" },
      });
  });
});

describe("what cannot be mapped", () => {
  let hook: Registration;
  beforeAll(async () => {
    hook = await register(world.admin, { ...SHOP, source: "unmappable" });
  });
  const mine = async () =>
    (await deadLetters(world)).filter(
      ({ source }: { source: string }) => source === `/w/${world.slug}/unmappable`,
    );

  test.each([
    ["lacks a value", '{"n":1}', { n: 1 }, "action: /what is missing: expected a string or a number"],
    ["is no JSON", "what=paid", "what=paid", "the body is not valid JSON: Unexpected token 'w'"],
    ["is empty", "", "", "the body is not valid JSON: Unexpected end of JSON input"],
    ["is no text", "\xff\xfe", "//4=", "the body is not UTF-8"],
  ])(
    "because it %s is a dead letter, and the sender need not send it again",
    async (_, text, payload, reason) => {
      const body = Buffer.from(text, "latin1");
      const headers = { "X-Service-Signature": signatureOf(body) };
      for (let time = 0; time < 2; time++) {
        const answer = await api({ url: "" }).post(hook.url, body, headers);
        expect(answer).toMatchObject({ status: 202, body: { event_id: null, status: "dead_lettered" } });
      }
      const found = (await mine()).filter((each: { dlq_reason: string }) => each.dlq_reason.includes(reason));
      expect(found).toEqual([
        expect.objectContaining({
          ...{ agent_id: null, event_id: null, payload },
          dlq_reason: expect.stringMatching(/^mapping error: (?!.*paid)/),
        }),
      ]);
    },
  );

  test("because it is larger as an event than events may be is one too", async () => {
    const large = order({ fill: "x".repeat(1_048_576 - order({ fill: "" }).length) });
    expect((await send(hook, large)).body.status).toBe("dead_lettered");
    const [latest] = await mine();
    expect(latest.dlq_reason).toMatch(/^mapping error: The event has \d+ bytes/);
    expect(latest.payload).toEqual(JSON.parse(large));
  });

  function signatureOf(body: Buffer): string {
    return hexSignature(hook.signing_secret, body);
  }
});

interface Logged {
  request_id: string;
  outcome: string;
  reason: string | null;
  event_id: string | null;
  [field: string]: unknown;
}

const requestsOf = async ({ id }: Registration): Promise<Logged[]> =>
  ok(await world.admin.get(`/ingest/webhooks/${id}/requests`)).requests;

/** Waits for the log to have so many requests; gives them, oldest first. */
async function logged(hook: Registration, count: number): Promise<Logged[]> {
  let found: Logged[] = [];
  await settle(async () => {
    found = await requestsOf(hook);
    return found.length >= count;
  });
  expect(found).toHaveLength(count);
  return found.toReversed();
}

test("the log says what was done with each request, and why one was refused", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "logged" });
  const body = order({ n: 1 });
  const answer = await send(hook, body, { "X-Secret-Note": "nobody should see this" });
  await send(hook, body);
  await send(hook, '{"n": 2}');
  await deliver(hook.url, body, serviceHeaders("whsec_wrong", body));
  await deliver(hook.url, body, standardHeaders(hook.signing_secret, body, new Date(Date.now() - 400_000)));
  await deliver(hook.url, "attack", {});

  const requests = await logged(hook, 6);
  const size = body.length;
  const refused = { outcome: "refused", event_id: null, dead_letter_id: null, signature: null };
  expect(requests).toMatchObject([
    {
      ...{ outcome: "accepted", reason: null, event_id: answer.body.event_id, events: 1, size },
      signature: "service",
    },
    { outcome: "duplicate", reason: null, event_id: answer.body.event_id, size },
    {
      outcome: "dead_lettered",
      reason: expect.stringMatching(/^mapping error: action: \/what is missing/),
      ...{ event_id: null, dead_letter_id: expect.stringMatching(/^dlv_/) },
    },
    { ...refused, reason: "signature does not match", size },
    { ...refused, reason: "timestamp too old: more than 5 minutes", size },
    { ...refused, reason: "no signature", size: 6 },
  ]);
  expect(requests[0]?.request_id).toBe(answer.headers.get("x-request-id"));
  const { webhooks } = ok(await world.admin.get("/ingest/webhooks"));
  expect(webhooks.find(({ id }: Registration) => id === hook.id).last_request).toEqual(requests.at(-1));
  const text = JSON.stringify(requests);
  for (const secret of ["attack", "nobody should see", "whsec_", "paid"]) expect(text).not.toContain(secret);
});

test("the log keeps the last 50, however many are refused, and ends with its webhook", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "attacked" });
  for (let n = 0; n < 120; n++) await deliver(hook.url, `${n}`, {});
  await send(hook, order({ n: "last" }));
  await settle(async () => (await requestsOf(hook))[0]?.outcome === "accepted");
  const requests = await requestsOf(hook);
  expect(requests).toHaveLength(50);
  expect(new Set(requests.slice(1).map(({ outcome }) => outcome))).toEqual(new Set(["refused"]));
  expect((await world.admin.del(`/ingest/webhooks/${hook.id}`)).status).toBe(204);
  await refused(world.admin.get(`/ingest/webhooks/${hook.id}/requests`), "not_found");
});

test("a refused request to the address without a source is logged at webhooks with that address only", async () => {
  const other = await makeWorld(server, "globex");
  const named = await register(other.admin, { ...SHOP, source: "named" });
  const any = await register(other.admin, { ...SHOP, source: "/shop" });
  expect(any.url).toBe(`${server.root}/w/${other.slug}`);
  await deliver(any.url, "{}", {});
  const of = async ({ id }: Registration) =>
    ok(await other.admin.get(`/ingest/webhooks/${id}/requests`)).requests;
  await settle(async () => (await of(any)).length === 1);
  expect(await of(named)).toEqual([]);
});

test("a mapping is tried before a webhook exists, with the error that saving it would give", async () => {
  const before = ok(await world.admin.get("/events?limit=1")).events[0]?.event_id;
  const path = "/ingest/webhooks:test";
  const { event } = ok(
    await world.admin.post(path, {
      ...{ source: "slack", mapping: "slack" },
      ...{ payload: "command=%2Fdeploy&text=now&channel_id=C1" },
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  );
  expect(event).toMatchObject({
    ...{ type: "com.slack.command.deploy", subject: "C1", source: `/w/${world.slug}/slack` },
    data: { command: "/deploy", text: "now", channel_id: "C1" },
  });
  const own = { source: "shop", mapping: { entity: "order", action: "/what" } };
  expect(ok(await world.admin.post(path, { ...own, payload: { what: 1 } })).event.type).toBe(
    "com.shop.order.1",
  );
  expect(ok(await world.admin.post(path, { ...own, payload: {} }))).toEqual({
    event: null,
    error: "mapping error: action: /what is missing: expected a string or a number",
  });
  const wrong = { ...own, mapping: { entity: "/a~7", action: "x" }, payload: {} };
  await refused(world.admin.post(path, wrong), "validation_error", "mapping.entity");
  await refused(world.admin.post(path, own), "validation_error", "payload");
  expect(ok(await world.admin.get("/events?limit=1")).events[0]?.event_id).toBe(before);
});

test("another mapping is tried on a request that came", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "tried" });
  const secret = { "X-Auth": "hunter2-hunter2" };
  await send(hook, order({ n: "accepted", who: "u-1" }), { "X-Kind": "invoice", ...secret });
  await send(hook, JSON.stringify({ n: "no action", who: "u-2" }), { "X-Kind": "refund", ...secret });
  await deliver(hook.url, "{}", {});
  const [accepted, dead, refused] = (await logged(hook, 3)).map(({ request_id }) => request_id);
  const path = `/ingest/webhooks/${hook.id}:test`;
  const mapping = { entity: "header:X-Kind", action: "seen", subject: "/who" };
  const attempt = async (request_id = "") => ok(await world.admin.post(path, { request_id, mapping })).event;
  expect(await attempt(accepted)).toMatchObject({ type: "com.tried.invoice.seen", subject: "u-1" });
  expect(await attempt(dead)).toMatchObject({ type: "com.tried.refund.seen", subject: "u-2" });
  // Its value may be a credential, so that it was not kept.
  for (const request_id of [accepted, dead]) {
    const auth = { entity: "header:X-Auth", action: "seen" };
    expect(ok(await world.admin.post(path, { request_id, mapping: auth }))).toEqual({
      event: null,
      error:
        "mapping error: entity: header:X-Auth was not kept, as it may be a credential: send the request again",
    });
  }
  // With the saved mapping it is still the same error.
  expect(ok(await world.admin.post(path, { request_id: dead })).error).toMatch(/^mapping error: action/);
  expect(await world.admin.post(path, { request_id: refused })).toMatchObject(
    refusal(400, "validation_error", { field: "request_id" }),
  );
  expect(await world.admin.post(path, { request_id: "req_unknown" })).toMatchObject(
    refusal(404, "not_found"),
  );
});
