import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Answer, agentToken, api } from "../support/http.ts";
import { stripeHeaders } from "../support/senders.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal, refused, type World } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";
import {
  acceptedEvent,
  deliver,
  hexSignature,
  order,
  type Registration,
  register,
  SHOP,
  send,
  serviceHeaders,
  standardHeaders,
} from "../support/webhooks.ts";

const REFUSALS = 12;
const HOUR = 60 * 60 * 1000;

const server = await useServer({
  env: {
    ...{ OPERATOR_TOKEN, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" },
    PUBLIC_FAILURES_PER_MINUTE: String(REFUSALS),
    TRUST_PROXY: "loopback",
  },
});
const [world, other] = await Promise.all([makeWorld(server, "acme"), makeWorld(server, "globex")]);

const eventOf = (answer: Answer) => acceptedEvent(world.admin, answer);

const latestEvent = async ({ admin }: World) => ok(await admin.get("/events?limit=1")).events[0]?.event_id;
const deadLetters = async ({ admin }: World) => ok(await admin.get("/delivery/dlq?limit=200")).items;

describe("a signed webhook", () => {
  let hook: Registration;
  beforeAll(async () => {
    hook = await register(world.admin, { ...SHOP, source: "signed" });
  });

  test.each([
    ["with its source", () => hook.url],
    ["without it", () => `${server.root}/w/acme`],
    ["with a slash at the end", () => `${hook.url}/`],
  ])("is taken at the address %s", async (where, url) => {
    const body = order({ where });
    const event = await eventOf(await deliver(url(), body, serviceHeaders(hook.signing_secret, body)));
    expect(event).toMatchObject({
      publisher_id: null,
      payload: { source: "/w/acme/signed", type: "com.signed.order.paid", data: { what: "paid", where } },
    });
  });

  test.each([
    [
      "sha256=",
      (key: string, body: string) => ({ "X-Service-Signature": `sha256=${hexSignature(key, body)}` }),
    ],
    ["the library of Standard Webhooks", (key: string, body: string) => standardHeaders(key, body)],
    ["Stripe", (key: string, body: string) => stripeHeaders(key, body)],
  ])("is taken by %s", async (scheme, headers) => {
    const body = order({ scheme });
    await eventOf(await deliver(hook.url, body, headers(hook.signing_secret, body)));
  });

  test("has its bytes signed, not their meaning", async () => {
    const body = '{ "what":"paid",  "title":"Gr\\u00f6ße 😀" }\n';
    const { payload } = await eventOf(await send(hook, body, { "content-type": "text/plain" }));
    expect(payload.data).toEqual({ what: "paid", title: "Größe 😀" });
  });

  test("has the id of its `webhook-id`, its mapping, or its body", async () => {
    const body = order({ whose: "ids" });
    const { payload } = await eventOf(
      await deliver(hook.url, body, standardHeaders(hook.signing_secret, body, new Date(), "msg_7")),
    );
    expect(payload.id).toBe(`${hook.id}:msg_7`);
    const first = await eventOf(await send(hook, body));
    expect(first.payload.id).toMatch(new RegExp(`^${hook.id}:sha256:[0-9a-f]{64}$`));
    expect((await send(hook, body)).body).toEqual({ event_id: first.event_id, status: "duplicate" });
    const mapped = await register(world.admin, { ...SHOP, mapping: { ...SHOP.mapping, id: "/id" } });
    const one = await eventOf(await send(mapped, order({ id: "in_1", n: 1 })));
    expect(one.payload.id).toBe(`${mapped.id}:in_1`);
    const again = await send(mapped, order({ id: "in_1", n: 2 }), { "X-GitHub-Delivery": "ignored" });
    expect(again.body).toEqual({ event_id: one.event_id, status: "duplicate", differs: true });
    expect(await server.metrics()).toMatch(/webhooks(?:_total)?\{[^}]*outcome="differs"[^}]*\} 1\b/);
  });

  test("is the same event under any id that is not signed, for its mapping and its dead letter too", async () => {
    const mapping = { ...SHOP.mapping, id: "header:X-Delivery" };
    const mapped = await register(world.admin, { ...SHOP, source: "by-header", mapping });
    const body = order({ sent: "once" });
    const one = await eventOf(await send(mapped, body, { "X-Delivery": "1" }));
    expect(one.payload.id).toBe(`${mapped.id}:1`);
    const again = { event_id: one.event_id, status: "duplicate" };
    expect((await send(mapped, body, { "X-Delivery": "2" })).body).toEqual(again);
    const standard = standardHeaders(mapped.signing_secret, body, new Date(), "msg_1");
    const signed = await eventOf(await deliver(mapped.url, body, { ...standard, "X-Delivery": "3" }));
    const resent = await deliver(mapped.url, body, { ...standard, "X-Delivery": "4" });
    expect(resent.body).toEqual({ event_id: signed.event_id, status: "duplicate" });
    const lost = JSON.stringify({ n: "not mapped" });
    for (const id of ["a", "b"])
      expect((await send(hook, lost, { "X-GitHub-Delivery": id })).body.status).toBe("dead_lettered");
    const { items } = ok(await world.admin.get("/delivery/dlq?limit=200"));
    const those = items.filter((item: { payload: { n?: string } }) => item.payload.n === "not mapped");
    expect(those).toHaveLength(1);
  });

  test("keeps a signed id: an additional unsigned one does not count", async () => {
    const body = order({ whose: "signed id" });
    const named = Object.entries(standardHeaders(hook.signing_secret, body, new Date(), "msg_8"));
    const svix = Object.fromEntries(named.map(([name, value]) => [name.replace("webhook", "svix"), value]));
    const first = await eventOf(await deliver(hook.url, body, svix));
    expect(first.payload.id).toBe(`${hook.id}:msg_8`);
    const again = await deliver(hook.url, body, { ...svix, "webhook-id": "msg_9" });
    expect(again.body).toEqual({ event_id: first.event_id, status: "duplicate" });
    // Two deliveries with signed ids may say the same.
    const other = standardHeaders(hook.signing_secret, body, new Date(), "msg_10");
    expect((await eventOf(await deliver(hook.url, body, other))).payload.id).toBe(`${hook.id}:msg_10`);
  });

  test("with the same id at two registrations is two events", async () => {
    const second = await register(world.admin, { ...SHOP, source: "signed" });
    const body = order({ twice: true });
    const id = { "X-GitHub-Delivery": "d-1" };
    const [one, two] = [await send(hook, body, id), await send(second, body, id)];
    expect([one.body.status, two.body.status]).toEqual(["accepted", "accepted"]);
  });

  test("of 1 MB is taken, of more not", async () => {
    const filled = (size: number) => order({ fill: "x".repeat(size - order({ fill: "" }).length) });
    const limit = 1_048_576;
    // Room for the envelope around the payload.
    await eventOf(await send(hook, filled(limit - 1000)));
    await refused(send(hook, filled(limit + 1)), "payload_too_large", { max_size: limit });
  });
});

test("a new secret is accepted along with the previous ones, each for its 24 hours", async () => {
  const hook = await register(world.admin, { ...SHOP, source: "rotated" });
  const rotate = async (body = {}) => ok(await world.admin.post(`/ingest/webhooks/${hook.id}:rotate`, body));
  const status = async (secret: string, n: number) => {
    const body = order({ n });
    return (await deliver(hook.url, body, serviceHeaders(secret, body))).status;
  };
  const before = Date.now();
  const second = await rotate();
  expect(second.signing_secret).not.toBe(hook.signing_secret);
  const ends = Date.parse(second.previous_ends_at) - before;
  expect(Math.abs(ends - 24 * HOUR)).toBeLessThan(60_000);
  expect(await status(hook.signing_secret, 1)).toBe(202);
  expect(await status(second.signing_secret, 2)).toBe(202);
  const third = await rotate({ signing_secret: "made-by-the-sender-itself" });
  expect(third.signing_secret).toBe("made-by-the-sender-itself");
  expect(await status(third.signing_secret, 3)).toBe(202);
  expect(await status(second.signing_secret, 4)).toBe(202);
  expect(await status(hook.signing_secret, 5)).toBe(202);
  for (let i = 0; i < 3; i++) await rotate();
  const seventh = await world.admin.post(`/ingest/webhooks/${hook.id}:rotate`, {});
  await refused(seventh, "business_rule_violation", { rule: "signing_secret_limit" });
  expect(await status(hook.signing_secret, 6)).toBe(202);
});

const key = "C2FVsBQIhrscChlQIMV+b5sSYspob7oD/w==";
const url = "-_-_-_-_-_-_-_-_-_-_-_-_";
const registered = (mapping: unknown, signing_secret: string) =>
  world.admin.post("/ingest/webhooks", { ...SHOP, source: "copied", mapping, signing_secret });

test.each([
  ["with its version", `v1,whsec_${key}`, `whsec_${key}`],
  ["in quotes", `"whsec_${key}"`, `whsec_${key}`],
  ["in typographic quotes and spaces", ` “ whsec_${key} ”\n`, `whsec_${key}`],
  ["with its prefix in capitals", `V1,WHSEC_${key}`, `whsec_${key}`],
  ["without its prefix", `'${key}'`, key],
  ["in the alphabet of URLs", `whsec_${url}`, `whsec_${url}`],
])("a secret as it was copied is understood %s", async (_, given, secret) => {
  const hook = ok(await registered("standard_webhooks", given));
  expect(hook.signing_secret).toBe(secret);
  const body = JSON.stringify({ type: "user.created", data: { id: secret } });
  const bytes = Buffer.from(secret.replace("whsec_", ""), "base64").toString("base64");
  expect((await deliver(hook.url, body, standardHeaders(bytes, body))).status).toBe(202);
  const rotated = ok(await world.admin.post(`/ingest/webhooks/${hook.id}:rotate`, { signing_secret: given }));
  expect(rotated.signing_secret).toBe(secret);
  await world.admin.del(`/ingest/webhooks/${hook.id}`);
});

test.each([
  ["with half of its quotes", SHOP.mapping, `whsec_${key}"`],
  ["with its name", "standard_webhooks", `SECRET=whsec_${key}`],
  ["twice", SHOP.mapping, `whsec_${key}|whsec_${key}`],
  ["of an asymmetric signature", "standard_webhooks", `whpk_${key}`],
  ["with spaces", "github", "one secret of several words"],
  ["in quotes only to be long enough", "github", '"14-characters."'],
  ["in letters of no alphabet", "standard_webhooks", "C2FVsBQIhrscChlQIMV+b5sSYspob7oD_w=="],
])("a secret as it was copied is refused %s", async (_, mapping, given) => {
  const answer = await registered(mapping, given);
  await refused(answer, "validation_error", "signing_secret");
  expect(JSON.stringify(answer.body)).not.toContain(given.slice(3, 15));
});

describe("what is not signed by whom it is addressed to", () => {
  const body = order({ signed: false });
  let hook: Registration;
  let theirs: Registration;
  let suspended: Registration;
  let deleted: Registration;

  beforeAll(async () => {
    const elsewhere = await makeWorld(server, "initech");
    await makeWorld(server, "empty");
    hook = await register(world.admin, { ...SHOP, source: "guarded" });
    await register(world.admin, { ...SHOP, source: "another" });
    theirs = await register(other.admin, { ...SHOP, source: "guarded" });
    suspended = await register(elsewhere.admin, SHOP);
    deleted = await register(world.admin, { ...SHOP, source: "deleted" });
    ok(await world.admin.del(`/ingest/webhooks/${deleted.id}`));
    const operator = api(server, OPERATOR_TOKEN);
    ok(await operator.patch(`/tenants/${elsewhere.tenant_id}`, { status: "suspended" }));
  });

  const right = () => serviceHeaders(hook.signing_secret, body);
  const signedAt = (minutes: number) =>
    standardHeaders(hook.signing_secret, body, new Date(Date.now() + minutes * 60_000));
  const cases: [string, () => [url: string, headers: Record<string, string>]][] = [
    ["no signature", () => [hook.url, {}]],
    ["a wrong one", () => [hook.url, serviceHeaders("whsec_wrong", body)]],
    ["one of another body", () => [hook.url, serviceHeaders(hook.signing_secret, `${body} `)]],
    ["one of another tenant's webhook", () => [hook.url, serviceHeaders(theirs.signing_secret, body)]],
    ["a slug that nobody has", () => [`${server.root}/w/nobody/guarded`, right()]],
    ["a slug that none could have", () => [`${server.root}/w/${encodeURIComponent("NO/body %")}`, right()]],
    ["the slug of another tenant", () => [theirs.url, right()]],
    ["a tenant without webhooks", () => [`${server.root}/w/empty`, right()]],
    ["an unknown source", () => [`${server.root}/w/acme/nothing`, right()]],
    ["another source of the tenant", () => [`${server.root}/w/acme/another`, right()]],
    ["a suspended tenant", () => [suspended.url, serviceHeaders(suspended.signing_secret, body)]],
    ["a deleted webhook", () => [deleted.url, serviceHeaders(deleted.signing_secret, body)]],
    ["a time too long ago", () => [hook.url, signedAt(-6)]],
    ["a time too early", () => [hook.url, signedAt(6)]],
    ["a token, which counts for nothing", () => [hook.url, { authorization: `Bearer ${world.adminToken}` }]],
  ];

  test("is the same 401 whatever is wrong, and leaves nothing behind", async () => {
    const before = [await latestEvent(world), await latestEvent(other)];
    const dead = [await deadLetters(world), await deadLetters(other)];
    for (const [at, [what, request]] of cases.entries()) {
      const [url, headers] = request();
      const answer = await deliver(url, body, { ...headers, "X-Forwarded-For": `10.1.0.${at}` });
      const { request_id, ...error } = answer.body.error;
      const message = expect.stringMatching(/^The signature does not match any webhook at this address\./);
      const expected = { code: "authentication_failed", message, details: {} };
      expect({ what, status: answer.status, error }).toEqual({ what, status: 401, error: expected });
    }
    expect([await latestEvent(world), await latestEvent(other)]).toEqual(before);
    expect([await deadLetters(world), await deadLetters(other)]).toEqual(dead);
    // The request that all of these are nearly.
    await eventOf(await deliver(hook.url, body, right()));
  });

  test("is told to wait when it comes too often; what is signed is not", async () => {
    const from = (address: string) => ({ "X-Forwarded-For": address });
    for (let i = 0; i < REFUSALS; i++)
      expect((await deliver(hook.url, body, from("10.2.0.1"))).status).toBe(401);
    const refused = await deliver(hook.url, body, from("10.2.0.1"));
    expect(refused).toMatchObject(refusal(429, "rate_limited", { limit: REFUSALS, window_seconds: 60 }));
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await deliver(hook.url, body, { ...right(), ...from("10.2.0.1") })).status).toBe(202);
    expect((await deliver(hook.url, body, from("10.2.0.2"))).status).toBe(401);
  });

  test("is only ever posted", async () => {
    const { status, headers } = await api({ url: "" }).get(hook.url);
    expect([status, headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });
});

test("requests that cost much before they are refused make their address wait, and no other", async () => {
  await using server = await startShared("open");
  const admin = api(server, await agentToken(server, server.credentials.agent.api_key));
  const hook = await register(admin, SHOP);
  await Promise.all(Array.from({ length: 49 }, () => register(admin, SHOP)));
  const large = order({ fill: "x".repeat(1_000_000) });
  const wrong = { ...serviceHeaders("somebody else's secret", large), "X-Forwarded-For": "10.3.0.1" };
  const small = order();
  const right = serviceHeaders(hook.signing_secret, small);
  const from = (address: string) => deliver(hook.url, small, { ...right, "X-Forwarded-For": address });
  const statuses = new Set<number>();
  // It waits for a part of a second only.
  await settle(async () => {
    for (let sent = 0; sent < 100; sent++) {
      const { status } = await deliver(hook.url, large, wrong);
      statuses.add(status);
      if (status === 429) break;
    }
    const answer = await from("10.3.0.1");
    if (answer.status === 429) await refused(answer, "rate_limited");
    return answer.status === 429;
  });
  expect(statuses).toEqual(new Set([401, 429]));
  expect((await from("10.3.0.2")).status).toBe(202);
  const healthy = await api(server).get(`${server.root}/healthz`, { "X-Forwarded-For": "10.3.0.1" });
  expect(healthy.status).toBe(200);
});
