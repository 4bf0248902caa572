import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Webhook } from "standardwebhooks";
import { withKey } from "../support/agents.ts";
import { deliveryGround, type Ground, onGround, pollSome, useGround } from "../support/deliveries.ts";
import { type Endpoint, type Pushed, startEndpoint } from "../support/endpoint.ts";
import { api } from "../support/http.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const document = JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"));

const endpoints: Endpoint[] = [];
const agents: string[] = [];
let ground: Ground = await useGround({ env: { PUSH_ALLOW_PRIVATE: "true", OPERATOR_TOKEN } });
afterEach(async () => {
  // Nothing of one test is pushed during the next.
  for (const id of agents.splice(0))
    ok(await ground.admin.patch(`/agents/${id}/status`, { status: "inactive" }));
  for (const endpoint of endpoints.splice(0)) await endpoint.stop();
});

let names = 0;
/** Creates an agent with push delivery, its endpoint, and an event type for it. */
async function pushed(agent: object = {}) {
  const type = `com.example.push${++names}`;
  const endpoint = await startEndpoint();
  endpoints.push(endpoint);
  const settings = { delivery_mode: "push", delivery_endpoint: endpoint.url, ...agent };
  const receiver = await newReceiver(ground.server, ground.admin, type, {
    interests: [type],
    agent: settings,
  });
  agents.push(receiver.id);
  return { ...receiver, type, endpoint };
}

type Mine = Awaited<ReturnType<typeof pushed>>;
const statsOf = async ({ api }: Mine) => ok(await api.get("/delivery/stats"));
const idOf = ({ headers }: Pushed) => headers["webhook-id"] as string;

const firstPush = ({ endpoint }: Mine) => settle(() => endpoint.pushed[0]);

async function newSecret({ id }: Mine): Promise<string> {
  return ok(await ground.admin.post(`/agents/${id}/signing-secret`)).signing_secret;
}

/** The event, if the signature is good for this secret. */
function verified(secret: string, { body, headers }: Pushed): unknown {
  return new Webhook(secret).verify(body, headers);
}

test("posts the CloudEvent, signed, and acknowledges by 2xx", async () => {
  const receiver = await pushed();
  const secret = await newSecret(receiver);
  const event_id = await ground.publish(receiver.type, { amount: 7 }, { subject: "order/1" });
  const push = await firstPush(receiver);
  expect(push.path).toBe("/hook");
  expect(push.headers["content-type"]).toBe("application/cloudevents+json");
  expect(verified(secret, push)).toMatchObject({
    ...{ specversion: "1.0", type: receiver.type, data: { amount: 7 } },
  });
  expect(() => verified(`whsec_${Buffer.alloc(32).toString("base64")}`, push)).toThrow(
    "No matching signature",
  );
  const { receivers } = await settle(async () => {
    const event = ok(await ground.admin.get(`/events/${event_id}`));
    return event.deliveries.acknowledged === 1 && event;
  });
  expect(receivers).toMatchObject([{ delivery_id: idOf(push), agent_id: receiver.id, attempt_count: 1 }]);
});

test.each(["structured", "binary"])(
  "what is pushed in %s mode is what the API's document says",
  async (push_format) => {
    const receiver = await pushed({ push_format });
    await ground.publish(receiver.type, { amount: 7 }, { subject: "order/1" });
    const { headers, body } = await firstPush(receiver);
    const { parameters, requestBody } = document.webhooks.delivery.post;
    const fits = (schema: object, value: unknown) =>
      ajv.validate({ ...schema, components: document.components }, value);
    for (const { name, required, schema } of parameters) {
      if (headers[name] === undefined) expect([name, required]).toEqual([name, false]);
      else expect([name, headers[name], fits(schema, headers[name])]).toEqual([name, headers[name], true]);
    }
    const type = headers["content-type"] as string;
    const { schema } = requestBody.content[type] ?? requestBody.content["*/*"];
    expect([type, fits(schema, JSON.parse(body))]).toEqual([
      push_format === "binary" ? "application/json" : "application/cloudevents+json",
      true,
    ]);
  },
);

const binary = { push_format: "binary" };

test("in binary mode posts the data, signed, with the attributes in headers", async () => {
  const receiver = await pushed(binary);
  const secret = await newSecret(receiver);
  await ground.publish(receiver.type, { amount: 7 }, { subject: 'Grüße "€" 100%', urgent: true, count: -1 });
  const push = await firstPush(receiver);
  const { "webhook-signature": _, ...headers } = push.headers;
  expect(headers).toMatchObject({
    ...{ "content-type": "application/json", "ce-specversion": "1.0", "ce-type": receiver.type },
    ...{ "ce-subject": "Gr%C3%BC%C3%9Fe%20%22%E2%82%AC%22%20100%25", "ce-urgent": "true", "ce-count": "-1" },
  });
  expect(headers["ce-id"]).toEqual(expect.any(String));
  expect(headers["ce-source"]).toEqual(expect.any(String));
  expect(JSON.parse(push.body)).toEqual({ amount: 7 });
  expect(verified(secret, push)).toEqual({ amount: 7 });
});

test.each<[string, object, { type: string | undefined; body: string }]>([
  ["text", { datacontenttype: "text/plain", data: "grüße" }, { type: "text/plain", body: "grüße" }],
  ["a string", { datacontenttype: "application/json", data: "x" }, { type: "application/json", body: '"x"' }],
  [
    "bytes",
    { datacontenttype: "image/x-tiny", data_base64: "AQID" },
    { type: "image/x-tiny", body: "\x01\x02\x03" },
  ],
  ["nothing", {}, { type: undefined, body: "" }],
])("in binary mode %s is the body as its media type has it", async (_what, more, { type, body }) => {
  const receiver = await pushed(binary);
  const event = { specversion: "1.0", id: receiver.type, type: receiver.type, source: "urn:test", ...more };
  ok(await ground.admin.post("/events", event));
  const push = await firstPush(receiver);
  expect({ type: push.headers["content-type"], body: push.body }).toEqual({ type, body });
  expect(push.headers["ce-id"]).toBe(receiver.type);
});

test.each([
  ["attributes over 8 KB", { subject: "s".repeat(4000), one: "x".repeat(4000), two: "y".repeat(4000) }],
  ["a media type that no header holds", { datacontenttype: 'text/plain; a="ü"', data: "x" }],
])("in binary mode an event with %s is posted as a whole", async (_what, more) => {
  const receiver = await pushed(binary);
  const event = { specversion: "1.0", id: receiver.type, type: receiver.type, source: "urn:test", ...more };
  ok(await ground.admin.post("/events", event));
  const push = await firstPush(receiver);
  expect(push.headers["content-type"]).toBe("application/cloudevents+json");
  expect(JSON.parse(push.body)).toEqual(event);
});

test("in binary mode holds from the next push on, and back again", async () => {
  const receiver = await pushed();
  const next = async (push_format: string) => {
    const before = receiver.endpoint.pushed.length;
    expect(ok(await ground.admin.patch(`/agents/${receiver.id}`, { push_format }))).toMatchObject({
      push_format,
    });
    await ground.publish(receiver.type);
    return (await settle(() => receiver.endpoint.pushed[before])).headers["ce-type"];
  };
  expect(ok(await ground.admin.get(`/agents/${receiver.id}`)).push_format).toBe("structured");
  expect(await next("binary")).toBe(receiver.type);
  expect(await next("structured")).toBeUndefined();
  expect(await ground.admin.patch(`/agents/${receiver.id}`, { push_format: "batch" })).toMatchObject({
    status: 400,
    body: { error: { code: "validation_failed", details: { field: "push_format" } } },
  });
});

test("after two rotations all three secrets sign", async () => {
  const receiver = await pushed();
  const secrets = [await newSecret(receiver), await newSecret(receiver), await newSecret(receiver)];
  await ground.publish(receiver.type);
  const push = await firstPush(receiver);
  // And the one that the agent was created with.
  expect(push.headers["webhook-signature"]?.split(" ")).toHaveLength(4);
  for (const secret of secrets) expect(verified(secret, push)).toMatchObject({ type: receiver.type });
});

test("no more than eight go before the first is answered, and all of many once", async () => {
  const receiver = await pushed();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  receiver.endpoint.answer((_, res) => void answered.then(() => res.writeHead(200).end("thanks")));
  await Promise.all(Array.from({ length: 60 }, () => ground.publish(receiver.type)));
  await settle(async () => (await statsOf(receiver)).pending === 60 && receiver.endpoint.most() > 4);
  expect(receiver.endpoint.most()).toBeLessThanOrEqual(8);
  answer();
  await settle(async () => {
    const { pending } = await statsOf(receiver);
    return pending === 0 && receiver.endpoint.pushed.length >= 60;
  });
  expect(new Set(receiver.endpoint.pushed.map(idOf)).size).toBe(60);
  expect(receiver.endpoint.pushed).toHaveLength(60);
});

describe("failures", () => {
  test.each([
    [503, "503"],
    [308, "308, a redirect to URL: use the final address"],
  ])("with the budget spent it is dead, and says what the endpoint answered: %i", async (status, said) => {
    const [receiver, other] = [await pushed({ retry_budget: 1 }), await startEndpoint()];
    endpoints.push(other);
    receiver.endpoint.answer((_, res) => res.writeHead(status, { location: `${other.url}?t=1` }).end());
    await ground.publish(receiver.type);
    const [{ dlq_reason }] = await settle(async () => {
      const { count, items } = ok(await receiver.api.get("/delivery/dlq"));
      return count === 1 && items;
    });
    const expected = `max attempts exceeded (1): the endpoint responded with ${said}`;
    expect(dlq_reason).toBe(expected.replace("URL", other.url));
    expect([receiver.endpoint.pushed.length, other.pushed.length]).toEqual([1, 0]);
  });

  test("Retry-After is honoured, for the delivery and for those behind it", async () => {
    const receiver = await pushed();
    receiver.endpoint.answer((_push, res) => {
      receiver.endpoint.answer(200);
      res.writeHead(429, { "retry-after": "1" }).end();
    });
    await ground.publish(receiver.type);
    const first = await firstPush(receiver);
    await settle(async () => (await statsOf(receiver)).waiting === 1);
    await ground.publish(receiver.type);
    await settle(() => receiver.endpoint.pushed.length === 3);
    const [, ...later] = receiver.endpoint.pushed as [Pushed, ...Pushed[]];
    expect(later.map(idOf)).toContain(idOf(first));
    for (const { at } of later) expect(at - first.at).toBeGreaterThan(900);
  });

  test("an answer that never ends is cut off and counts", async () => {
    const receiver = await pushed();
    receiver.endpoint.answer((_push, res) => {
      res.writeHead(200);
      const more = () => !res.destroyed && res.write("x".repeat(65_536), () => setImmediate(more));
      more();
    });
    await ground.publish(receiver.type);
    await settle(
      async () => receiver.endpoint.pushed.length === 1 && (await statsOf(receiver)).pending === 0,
    );
  });

  test("410 stops pushing and leaves deliveries to polls, until the endpoint is named again", async () => {
    const receiver = await pushed();
    receiver.endpoint.answer(410);
    await ground.publish(receiver.type);
    // Not before: a poll would be as entitled to it as the push.
    await settle(() => receiver.endpoint.pushed.length === 1);
    expect(await pollSome(receiver.api)).toMatchObject([{ attempt_count: 1 }]);
    await ground.publish(receiver.type);
    expect(await pollSome(receiver.api)).toMatchObject([{ attempt_count: 1 }]);
    expect(receiver.endpoint.pushed).toHaveLength(1);
    receiver.endpoint.answer(200);
    ok(await ground.admin.patch(`/agents/${receiver.id}`, { delivery_endpoint: receiver.endpoint.url }));
    await ground.publish(receiver.type);
    await settle(() => receiver.endpoint.pushed.length === 2);
  });
});

test("an endpoint that cannot be reached parks deliveries without spending their budget, and is probed", async () => {
  const receiver = await pushed({ retry_budget: 1 });
  await receiver.endpoint.stop();
  for (let i = 0; i < 5; i++) await ground.publish(receiver.type);
  await settle(async () => /push_attempts_total\{outcome="park"\} [1-9]/.test(await metrics()));
  // Of other tests, too.
  const open = await openBreakers();
  expect(open).toBeGreaterThan(0);
  expect(await metrics()).toMatch(/push_breakers_opened_total [1-9]/);
  await settle(async () => {
    const { pending, in_flight, dead } = await statsOf(receiver);
    return pending === 5 && in_flight === 0 && dead === 0;
  });
  await receiver.endpoint.start();
  await settle(() => receiver.endpoint.pushed.length === 5);
  await settle(async () => (await statsOf(receiver)).pending === 0);
  await settle(async () => (await openBreakers()) < open);
});

test("an endpoint that cannot be reached is not tried again at once after a restart, as what was being pushed is", async () => {
  const [receiver, slow] = [await pushed(), await pushed()];
  slow.endpoint.answer(() => {});
  await ground.publish(slow.type);
  const first = await firstPush(slow);
  slow.endpoint.answer(200);
  await receiver.endpoint.stop();
  const before = await parked();
  await ground.publish(receiver.type);
  await settle(async () => (await parked()) >= before + 2);
  const failedAt = performance.now();
  await ground.server.restart();
  // Where the restart alone takes as long as the pause after a second failure, the next try is due.
  const isDue = () => performance.now() - failedAt >= 9_000;
  expect((await parked()) === 0 || isDue()).toBe(true);
  expect(await pollSome(receiver.api)).toMatchObject([{ attempt_count: 1 }]);
  expect((await parked()) === 0 || isDue()).toBe(true);
  await settle(() => slow.endpoint.pushed.length === 2);
  expect(idOf(slow.endpoint.pushed[1] as Pushed)).toBe(idOf(first));
  await settle(async () => (await statsOf(slow)).pending === 0);
});

test("an endpoint that cannot be reached gives way to another that is named in its place", async () => {
  const receiver = await pushed();
  await receiver.endpoint.stop();
  await ground.publish(receiver.type);
  const better = await startEndpoint();
  endpoints.push(better);
  ok(await ground.admin.patch(`/agents/${receiver.id}`, { delivery_endpoint: better.url }));
  await settle(() => better.pushed.length === 1);
});

test("a slow endpoint and a dead one do not delay another agent", async () => {
  const [slow, dead, good] = [await pushed(), await pushed(), await pushed()];
  slow.endpoint.answer(() => {});
  await dead.endpoint.stop();
  for (let i = 0; i < 30; i++) await Promise.all([slow, dead].map(({ type }) => ground.publish(type)));
  await settle(() => slow.endpoint.pushed.length >= 5);
  await Promise.all(Array.from({ length: 20 }, () => ground.publish(good.type)));
  await settle(() => good.endpoint.pushed.length === 20);
  expect(slow.endpoint.pushed.length).toBeLessThanOrEqual(8);
});

test("pushes of a suspended tenant wait without losing an attempt", async () => {
  const receiver = await pushed({ retry_budget: 1 });
  let brokenOff = false;
  receiver.endpoint.answer((_, res) => {
    res.once("close", () => {
      brokenOff = true;
    });
  });
  await ground.publish(receiver.type);
  const first = await firstPush(receiver);
  const tenant = `/tenants/${ground.server.credentials.tenant_id}`;
  const operator = api(ground.server, OPERATOR_TOKEN);
  ok(await operator.patch(tenant, { status: "suspended" }));
  await settle(() => brokenOff);
  receiver.endpoint.answer(200);
  ok(await operator.patch(tenant, { status: "active" }));
  // The tokens of before stay refused.
  ground = { ...ground, ...(await onGround(ground.server)) };
  await settle(() => receiver.endpoint.pushed.length === 2);
  expect(idOf(receiver.endpoint.pushed[1] as Pushed)).toBe(idOf(first));
  const again = await withKey(ground.server, ground.admin, receiver.id, ["receive"]);
  await settle(async () => (await again.get("/delivery/stats")).body.pending === 0);
});

const metrics = () => ground.server.metrics();

async function openBreakers(): Promise<number> {
  return Number(/^sensorium_push_breakers_open (\d+)$/m.exec(await metrics())?.[1]);
}

/** How often this run of the server found an endpoint unreachable. */
async function parked(): Promise<number> {
  return Number(/push_attempts_total\{outcome="park"\} (\d+)/.exec(await metrics())?.[1] ?? 0);
}

// An endpoint that was allowed earlier is stored: the check at connection time must refuse it.
test("a private endpoint is refused when it is named, and again when it is connected to", async () => {
  const endpoint = await startEndpoint();
  endpoints.push(endpoint);
  const { port } = new URL(endpoint.url);
  const urls = [endpoint.url, `http://localhost:${port}/hook`, `http://2130706433:${port}/hook`];
  const receivers = await Promise.all(
    urls.map((delivery_endpoint, i) =>
      newReceiver(ground.server, ground.admin, `r${i}`, {
        interests: ["com.example.guard"],
        agent: { delivery_mode: "push", delivery_endpoint, retry_budget: 1 },
      }),
    ),
  );
  await ground.publish("com.example.guard");
  await settle(() => endpoint.pushed.length === 3);
  // Pushes that were not recorded as acknowledged before the kill would be repeated.
  for (const { api } of receivers)
    await settle(async () => ok(await api.get("/delivery/stats")).pending === 0);
  await ground.server.kill();
  const strict = await deliveryGround({ dataDir: ground.server.dataDir });
  await using _server = strict.server;
  const refused = await strict.admin.patch(`/agents/${receivers[0]?.id}`, {
    delivery_endpoint: endpoint.url,
  });
  const field = { field: "delivery_endpoint" };
  expect(refused).toMatchObject(refusal(400, "validation_error", field));
  expect(refused.body.error.message).toMatch(
    /is not a public address; .* unless the operator sets PUSH_ALLOW_PRIVATE\.$/,
  );
  await strict.publish("com.example.guard");
  const { items } = await settle(async () => {
    const dlq = ok(await strict.admin.get("/delivery/dlq?type=com.example.guard"));
    return dlq.count === 3 && dlq;
  });
  for (const { dlq_reason } of items) expect(dlq_reason).toMatch(/\(1\): .*is not a public address/);
  expect(endpoint.pushed).toHaveLength(3);
});
