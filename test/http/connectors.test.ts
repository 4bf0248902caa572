/** @needs rabbitmq */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import rhea from "rhea";
import { firstAgent, newReceiver, receive, type TestAgent } from "../support/agents.ts";
import { queueAddress, sendOverAmqp10 } from "../support/amqp10.ts";
import { startProxy } from "../support/proxy.ts";
import { sendThrough, sendTo, startRabbit, type TestRabbit } from "../support/rabbitmq.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refusal } from "../support/tenancy.ts";

const started = await startRabbit();
const here = "url" in started;
const rabbit = started as TestRabbit;
const mapping = { entity: "order", action: "/what", id: "/id", subject: "/for", data: "/data" };
const KINDS = [
  { kind: "amqp091", fromOf: (queue: string) => ({ queue }) },
  { kind: "amqp10", fromOf: (queue: string) => ({ address: queueAddress(queue) }) },
];

let server: TestServer;
let admin: TestAgent;
beforeAll(async () => {
  if (!here) return;
  const env = { RATE_LIMIT_PER_MINUTE: "0", CONNECTOR_ALLOW_PRIVATE: "true", OPERATOR_TOKEN };
  server = await startServer({ env });
  admin = await firstAgent(server);
});
afterAll(async () => {
  await server?.stop();
  if (here) await rabbit.stop();
});

/** Registers a connector. */
// biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
async function register(more: object): Promise<any> {
  const body = { name: "Shop", kind: "amqp091", url: rabbit.url, source: "Shop", mapping, ...more };
  return ok(await admin.post("/ingest/connectors", body));
}

const read = async (id: string) => ok(await admin.get(`/ingest/connectors/${id}`));
const inState = (id: string, state: string) =>
  settle(async () => (await read(id)).state === state, { what: `${id} to be ${state}` });

const receiver = (event_type: string) => newReceiver(server, admin, event_type);

const mapKeys = (values: object, name: (key: string) => string) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [name(key), value]));

const order = (id: number | string) => ({ id, what: "Placed", for: "acme", data: { total: 12 } });

(here ? describe : describe.skip)("connectors", () => {
  // First: only some warnings of a kind are logged in a minute.
  test("shows errors, and recovers by itself", async () => {
    const wrong = rabbit.url.replace(/:[^:@]+@/, ":wr0ng@");
    const refused = await register({ queue: "any", url: wrong });
    const missing = await register({ queue: "comes-later", source: "later" });
    const reasons = [
      [refused.id, /ACCESS.REFUSED/],
      [missing.id, /no queue 'comes-later'/],
    ] as const;
    for (const [id, reason] of reasons) {
      await inState(id, "retrying");
      expect((await read(id)).last_error).toMatch(reason);
      const logged = new RegExp(`"connectors: not consuming".*${id}|${id}.*"connectors: not consuming"`);
      await settle(() => logged.test(server.logs()));
    }
    const agent = await receiver("com.later.*");
    await sendTo(rabbit, "comes-later", [{ body: order(1) }]);
    await inState(missing.id, "consuming");
    expect(await receive(agent, 1)).toHaveLength(1);
    for (const { id } of [refused, missing]) ok(await admin.del(`/ingest/connectors/${id}`));
  });

  test("are 50 at most in a tenant", async () => {
    const full = await makeWorld(server, "full");
    const paused = {
      ...{ name: "Shop", kind: "amqp091", url: rabbit.url, queue: "q", source: "Shop", mapping },
      paused: true,
    };
    const create = () => full.admin.post("/ingest/connectors", paused);
    const { id } = ok(await create());
    for (let n = 1; n < 50; n++) ok(await create());
    const refused = refusal(422, "business_rule_violation", { rule: "connector_limit" });
    expect(await create()).toMatchObject(refused);
    ok(await full.admin.del(`/ingest/connectors/${id}`));
    ok(await create());
  });

  test.each(KINDS)("$kind: messages become events, what cannot be mapped a dead letter", async (each) => {
    const { kind, fromOf } = each;
    const queue = `mapped-${kind}`;
    await sendTo(rabbit, queue, []);
    const agent = await receiver(`com.${kind}.*`);
    const connector = await register({ kind, ...fromOf(queue), source: kind });
    expect(connector).toMatchObject({ state: "connecting", ...fromOf(queue), prefetch: 100 });
    await inState(connector.id, "consuming");
    const structured = { contentType: "application/cloudevents+json; charset=utf-8" };
    const whole = { specversion: "1.0", id: `whole-${kind}`, type: `com.${kind}.whole`, source: "urn:shop" };
    await sendTo(rabbit, queue, [
      { body: order(1) },
      { body: order(1) },
      { body: whole, options: structured },
      { body: { id: 2, data: {} } },
      { body: "no json, but a s3cret" },
      { body: "[".repeat(2000) + "]".repeat(2000) },
      { body: '{"id": 3, "what": "placed", "data": {"total": 1e400}}' },
      { body: { ...whole, id: "forged", type: "service.delivery.dead_lettered" }, options: structured },
      { body: { ...order(3), data: "x".repeat(1_100_000) } },
    ]);
    const deliveries = await receive(agent, 2);
    expect(deliveries.map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ id: `${connector.id}:1`, type: `com.${kind}.order.placed`, subject: "acme" },
          data: { total: 12 },
        }),
        expect.objectContaining({ ...whole, id: `${connector.id}:urn:shop whole-${kind}` }),
      ]),
    );
    // The second order has the first one's id.
    const counts = { received: 9, accepted: 2, duplicates: 1, differing_duplicates: 0, mapping_errors: 6 };
    await settle(async () => (await read(connector.id)).counts.mapping_errors === 6);
    expect((await read(connector.id)).counts).toEqual(counts);
    const { items } = ok(await admin.get("/delivery/dlq"));
    const own = items.filter((item: { source: string }) => item.source.endsWith(connector.id));
    expect(own).toHaveLength(6);
    const reasons = own.map((item: { dlq_reason: string }) => item.dlq_reason).join("\n");
    const parts = ["/what", "not valid JSON", "deeper", "at data.total", "service.", "the limit is 1048576"];
    for (const part of parts) expect(reasons).toContain(part);
    expect(reasons).not.toContain("s3cret");
    expect(own).toContainEqual(expect.objectContaining({ agent_id: null, payload: { id: 2, data: {} } }));
    const exposition = await server.metrics();
    expect(exposition).toMatch(/^sensorium_connector_messages_total\{outcome="mapping_error"\} \d+$/m);
    expect(exposition).toMatch(/^sensorium_connectors\{state="consuming"\} \d+$/m);
    expect((await admin.del(`/ingest/connectors/${connector.id}`)).status).toBe(204);
    expect(await admin.get(`/ingest/connectors/${connector.id}`)).toMatchObject(refusal(404, "not_found"));
  });

  test("events in binary mode are taken as they are, and not mapped", async () => {
    const agent = await receiver("com.shop.sold");
    const connector = await register({ queue: "binary" });
    const event = {
      ...{ specversion: "1.0", id: "binary-1", type: "com.shop.sold", source: "urn:shop", subject: "Grüße" },
    };
    const headers = Object.fromEntries(Object.entries(event).map(([name, value]) => [`ce-${name}`, value]));
    const contentType = "text/plain; charset=utf-8";
    await sendTo(rabbit, "binary", [
      { body: "no JSON", options: { contentType, headers } },
      { body: "no JSON", options: { headers: { ...headers, "ce-id": "malformed" } } },
    ]);
    await settle(async () => (await read(connector.id)).counts.mapping_errors === 1);
    const [{ payload }] = await receive(agent, 1);
    const id = `${connector.id}:urn:shop binary-1`;
    expect(payload).toMatchObject({ ...event, id, datacontenttype: contentType, data: "no JSON" });
    const { items } = ok(await admin.get("/delivery/dlq?limit=200"));
    expect(items).toContainEqual(
      expect.objectContaining({
        dlq_reason: "mapping error: data: expected valid JSON, according to datacontenttype.",
        payload: { base64: Buffer.from("no JSON").toString("base64") },
      }),
    );
    expect((await admin.del(`/ingest/connectors/${connector.id}`)).status).toBe(204);
  });

  test("decompresses bodies within limits, and names what it cannot", async () => {
    const agent = await receiver("com.packed.*");
    const { id } = await register({ queue: "packed", source: "packed" });
    const packed = (n: number, pack: (text: string) => Buffer, contentEncoding: string) => ({
      body: pack(JSON.stringify(order(n))),
      options: { contentEncoding },
    });
    await sendTo(rabbit, "packed", [
      packed(1, gzipSync, "gzip"),
      packed(2, deflateSync, "deflate"),
      packed(3, deflateRawSync, "Deflate"),
      packed(4, brotliCompressSync, "br"),
      packed(5, Buffer.from, "utf-8"),
      packed(6, Buffer.from, "gzip"),
      packed(7, zstdCompressSync, "zstd"),
      { body: gzipSync(Buffer.alloc(5_000_000, " ")), options: { contentEncoding: "gzip" } },
    ]);
    const ids = (await receive(agent, 5)).map(({ payload }) => payload.id);
    expect(new Set(ids)).toEqual(new Set([1, 2, 3, 4, 5].map((n) => `${id}:${n}`)));
    await settle(async () => (await read(id)).counts.mapping_errors === 3);
    const { items } = ok(await admin.get("/delivery/dlq?limit=200"));
    const reasons = items
      .filter(({ source }: { source: string }) => source.endsWith(id))
      .map((item: { dlq_reason: string }) => item.dlq_reason)
      .sort();
    expect(reasons).toEqual([
      expect.stringMatching(/by its content-encoding gzip: it has more than \d+ bytes/),
      expect.stringMatching(/by its content-encoding gzip: it is not valid/),
      expect.stringMatching(/content-encoding "zstd" is not supported/),
    ]);
    expect((await admin.del(`/ingest/connectors/${id}`)).status).toBe(204);
  });

  test.each(KINDS)("$kind: attributes in binary mode keep their types", async ({ kind, fromOf }) => {
    const queue = `typed-${kind}`;
    const agent = await receiver(`com.typed.${kind}`);
    await sendTo(rabbit, queue, []);
    const connector = await register({ kind, ...fromOf(queue) });
    const at = new Date("2026-01-31T09:30:00.000Z");
    const id = kind === "amqp10" ? 10 : 91;
    const plain = { specversion: "1.0", id, type: `com.typed.${kind}`, source: "urn:shop", word: "7" };
    const bytes = Buffer.from([0, 255, 16]);
    if (kind === "amqp091") {
      const seconds = { "!": "timestamp", value: at.getTime() / 1000 };
      const values = {
        ...plain,
        ...{ count: -7, big: 2 ** 40, ratio: 0.5, urgent: true, due: seconds, key: bytes },
      };
      const headers = mapKeys(values, (name) => `cloudEvents_${name}`);
      await sendTo(rabbit, queue, [{ body: {}, options: { headers } }]);
    } else {
      const { wrap_long, wrap_binary, wrap_timestamp } = rhea.types;
      const numbers = { count: wrap_long(-7), big: wrap_long(2 ** 40), ratio: 0.5 };
      const others = { urgent: true, due: wrap_timestamp(at.getTime()), key: wrap_binary(bytes) };
      const fields = { ...plain, ...numbers, ...others };
      const application_properties = mapKeys(fields, (name) => `cloudEvents:${name}`);
      const body = rhea.message.data_section(Buffer.from("{}"));
      await sendOverAmqp10(rabbit, queue, { body, content_type: "application/json", application_properties });
    }
    const [{ payload }] = await receive(agent, 1);
    expect(payload).toEqual({
      ...{ ...plain, id: `${connector.id}:urn:shop ${id}`, datacontenttype: "application/json", data: {} },
      // CloudEvents has no type for the last two numbers: they stay text.
      ...{ count: -7, urgent: true, due: at.toISOString(), key: "AP8Q", big: "1099511627776", ratio: "0.5" },
    });
    expect((await admin.del(`/ingest/connectors/${connector.id}`)).status).toBe(204);
  });

  test("a new mapping applies to later messages, and unmapped ones are replayed with it", async () => {
    await sendTo(rabbit, "mapped-again", [{ body: { id: 1, kind: "Placed", for: "acme" } }]);
    const agent = await receiver("com.again.*");
    const connector = await register({ queue: "mapped-again", source: "again", mapping });
    await settle(async () => (await read(connector.id)).counts.mapping_errors === 1);
    const right = { ...mapping, action: "/kind", data: "/id" };
    const path = `/ingest/connectors/${connector.id}`;
    const refused = await admin.patch(path, { mapping: { ...right, id: "/a~7" } });
    expect(refused).toMatchObject(refusal(400, "validation_error", { field: "mapping.id" }));
    expect(ok(await admin.patch(path, { mapping: right }))).toMatchObject({ mapping: right, paused: false });
    const { items } = ok(await admin.get("/delivery/dlq?limit=200"));
    const own = items.filter((item: { source: string }) => item.source.endsWith(connector.id));
    expect(own).toHaveLength(1);
    ok(await admin.post(`/delivery/dlq/${own[0].id}/replay`, {}));
    const first = { type: "com.again.order.placed", id: `${connector.id}:1`, data: 1 };
    expect(await receive(agent, 1)).toMatchObject([{ payload: first }]);
    const sent = "com.again.order.sent";
    // The nodes that run it take up the new mapping when they hear of it, or look again.
    await settle(async () => {
      await sendTo(rabbit, "mapped-again", [{ body: { id: 2, kind: "Sent" } }]);
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=1"));
      return deliveries.some(({ payload }: { payload: { type: string } }) => payload.type === sent);
    });
    expect((await admin.del(path)).status).toBe(204);
  });

  test("credentials are never shown again, nor kept in the clear", async () => {
    const bare = { entity: "order", action: "made" };
    const connector = await register({ queue: "hidden", paused: true, mapping: bare });
    expect(connector.mapping).toEqual({ ...bare, id: null, subject: null, data: null });
    expect(connector.url).toBe(`amqp://***@127.0.0.1:${rabbit.port}`);
    const shown = JSON.stringify([connector, ok(await admin.get("/ingest/connectors"))]);
    expect(shown).not.toMatch(/s3cret|tester/);
    const refused = await admin.post("/ingest/connectors", {
      ...{ name: "n", kind: "amqp091", queue: "q", source: "s", mapping },
      url: rabbit.url.replace("amqp:", "http:"),
    });
    expect(refused).toMatchObject(refusal(400, "validation_failed", { field: "url" }));
    expect(JSON.stringify(refused.body)).not.toMatch(/s3cret/);
    for (const password of ["s3cret#1", "s3cret?1", "7/s3cret", "s3cret@1", "s3cret%"]) {
      const ambiguous = await admin.post("/ingest/connectors", {
        ...{ name: "n", kind: "amqp091", queue: "q", source: "s", mapping, paused: true },
        url: `amqp://tester:${password}@127.0.0.1:${rabbit.port}`,
      });
      expect(ambiguous).toMatchObject(refusal(400, "validation_error", { field: "url" }));
      expect(ambiguous.body.error.message).toMatch(/Write # as %23/);
      expect(JSON.stringify(ambiguous.body)).not.toMatch(/s3cret/);
    }
    expect(server.logs()).not.toMatch(/s3cret/);
    ok(await admin.del(`/ingest/connectors/${connector.id}`));
  });

  test("leaves messages at the broker while paused, and consumes them when resumed", async () => {
    await sendTo(rabbit, "pausing", []);
    const agent = await receiver("com.pausing.*");
    const { id } = await register({ queue: "pausing", source: "pausing" });
    await inState(id, "consuming");
    const path = `/ingest/connectors/${id}`;
    expect(ok(await admin.patch(path, { paused: true }))).toMatchObject({ state: "paused", paused: true });
    await sendTo(rabbit, "pausing", [{ body: order(1) }]);
    expect(await read(id)).toMatchObject({ state: "paused", counts: { received: 0 } });
    ok(await admin.patch(path, { paused: false }));
    expect((await receive(agent, 1))[0].payload.id).toBe(`${id}:1`);
    ok(await admin.del(path));
  });

  test.each([
    [{ queue: undefined }, "queue"],
    [{ address: "/queue/x" }, "address"],
    [{ kind: "amqp10", queue: undefined }, "address"],
    [{ mapping: { entity: "/bad~", action: "x" } }, "mapping.entity"],
    [{ url: "amqp://us%er:x@127.0.0.1" }, "url"],
  ])("a registration with %j is refused", async (more, field) => {
    const body = { name: "n", kind: "amqp091", url: rabbit.url, queue: "q", source: "s", mapping, ...more };
    const answer = await admin.post("/ingest/connectors", body);
    expect(answer).toMatchObject(refusal(400, "validation_error", { field }));
  });

  test("a broker on a private network is the operator's to allow", async () => {
    await using strict = await startShared();
    const body = { name: "n", kind: "amqp091", url: rabbit.url, queue: "q", source: "s", mapping };
    const agent = await firstAgent(strict);
    for (const url of [rabbit.url, rabbit.url.replace("127.0.0.1", "2130706433")]) {
      const answer = await agent.post("/ingest/connectors", { ...body, url });
      expect(answer).toMatchObject(refusal(400, "validation_error", { field: "url" }));
      expect(JSON.stringify(answer.body)).not.toMatch(/s3cret/);
    }
  });

  test("every message the broker confirmed arrives, though the server dies and the broker is cut off in mid-flow", async () => {
    await sendTo(rabbit, "mid-flow", []);
    const network = await startProxy(rabbit.port);
    const ids = new Set<number>();
    const agent = await receiver("com.flow.*");
    const connector = await register({
      ...{ queue: "mid-flow", source: "flow", prefetch: 20 },
      url: rabbit.url.replace(`:${rabbit.port}`, `:${network.port}`),
      mapping: { entity: "n", action: "sent", id: "/n" },
    });
    const paused = await register({ queue: "mid-flow", source: "paused", paused: true });
    let [isBack, isOver] = [false, false];
    const sent = sendThrough(rabbit, "mid-flow", ({ size }) => isOver || (isBack && size >= 200));
    try {
      await settle(async () => (await read(connector.id)).counts.accepted >= 50);
      await server.kill();
      await server.restart();
      await inState(connector.id, "consuming");
      network.cut();
      await inState(connector.id, "retrying");
      network.mend();
      isBack = true;
      const confirmed = await sent;
      await settle(
        async () => {
          for (const { payload } of await receive(agent, 0)) ids.add(payload.data.n);
          return confirmed.isSubsetOf(ids);
        },
        { within: 45_000, what: "all that was confirmed" },
      );
      expect(await read(paused.id)).toMatchObject({ state: "paused", counts: { received: 0 } });
    } finally {
      isOver = true;
      await network.stop();
    }
    for (const { id } of [connector, paused]) ok(await admin.del(`/ingest/connectors/${id}`));
  });
});
