import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { RateWindows } from "../../services/platform/admission/rate-windows.ts";
import { asFirst, FirstIds, type Signed } from "../../services/sense/ingest/delivery-id.ts";
import { WebhookBodyModel, WebhookLogModel, WebhookModel } from "../../services/sense/ingest/ingest.model.ts";
import { keptHeaders } from "../../services/sense/ingest/kept-headers.ts";
import { readPayload } from "../../services/sense/ingest/payload.ts";
import { countSigned, refusedEntry } from "../../services/sense/ingest/receive.ts";
import { RequestLog } from "../../services/sense/ingest/request-log.ts";
import { webhookPath } from "../../services/sense/ingest/webhooks.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";

const DAY = 24 * 60 * 60 * 1000;
const NOON = Date.UTC(2026, 0, 31, 12);

const FORM = "application/x-www-form-urlencoded";
const BYTES = Buffer.from([0x61, 0x3d, 0xff]);

test.each<[string, Buffer | string, string, RegExp]>([
  ["no JSON", "{", "application/json", /^mapping error: the body is not valid JSON: /],
  ["no UTF-8", BYTES, "application/json", /^mapping error: the body is not UTF-8$/],
  [
    "not in the charset it names",
    BYTES,
    "text/plain; charset=utf-16le",
    /^mapping error: the body is not UTF-8$/,
  ],
  [
    "in no charset",
    "{}",
    "text/plain; charset=klingon",
    /^mapping error: the charset "klingon" is not known$/,
  ],
  ["a form in another charset", BYTES, FORM, /^mapping error: the form is not in utf-8: name its charset/],
  ["a form whose escapes are", "a=%ff", FORM, /^mapping error: the form is not in utf-8: name its charset/],
])("a body that is %s is not read, and says why", (_, body, type, error) =>
  expect(readPayload(Buffer.from(body as string), type)).toEqual({
    error: expect.stringMatching(error),
    text: expect.any(String),
  }),
);

test.each([
  ["payload=%7B%22a%22%3A1%7D", { a: 1 }],
  ["payload=no+json", { payload: "no json" }],
])("the only field of the form %s is its payload if it is JSON", (body, payload) =>
  expect(readPayload(Buffer.from(body), FORM)).toEqual({ payload }),
);

test.each<[string, Buffer, object]>([
  [
    `${FORM}; charset=windows-1252`,
    Buffer.from("a=1&name=M%FCller+%96+5%80"),
    { a: "1", name: "Müller – 5€" },
  ],
  [`${FORM};charset="ISO-8859-2"`, Buffer.from("a=1&name=%A3%F3d%BC"), { a: "1", name: "Łódź" }],
  [`${FORM}; Charset=utf-8`, Buffer.from("a=1&name=M%C3%BCller=1&"), { a: "1", name: "Müller=1" }],
  [FORM, Buffer.from("a=1&name=Müller"), { a: "1", name: "Müller" }],
  ["application/json; charset=latin1", Buffer.from('{"city":"K\xf6ln"}', "latin1"), { city: "Köln" }],
  ["application/json; charset=utf-16le", Buffer.from('{"a":1}', "utf16le"), { a: 1 }],
])("a body in another charset is decoded by %s", (type, body, payload) =>
  expect(readPayload(body, type)).toEqual({ payload }),
);

describe("an id and a topic that are not signed", () => {
  const at = { tenant_id: "tn_1", webhook_id: "whk_1", digest: "sha256:1", topic: {}, several: true };
  const DAYS = 3;
  let temporary: TemporaryStore;
  let now: number;
  let ids: FirstIds;
  beforeEach(async () => {
    temporary = await temporaryStore();
    now = NOON;
    ids = new FirstIds(temporary.store.collection(WebhookBodyModel), () => now, DAYS);
  });
  afterEach(() => temporary.remove());

  const idOf = async (given: object) => (await ids.of({ ...at, id: null, ...given })).id;

  test("are the first that the signed content came under, for so many days, at one webhook", async () => {
    expect(await Promise.all(["a", "a"].map((id) => idOf({ id })))).toEqual(["a", "a"]);
    now += DAYS * DAY - 1;
    expect(await idOf({ id: "b" })).toBe("a");
    expect(await idOf({})).toBe("a");
    expect(await idOf({ webhook_id: "whk_2", id: "b" })).toBe("b");
    expect(await idOf({ digest: "sha256:2", id: "c" })).toBe("c");
    now += 1;
    const rivals = await Promise.all(["d", "e", "f"].map((id) => idOf({ id })));
    expect(new Set(rivals).size).toBe(1);
    expect(await idOf({ id: "g" })).toBe(rivals[0]);
  });

  test("are those of each topic for five minutes, then the first ones", async () => {
    const orders = (what: string) => ({ topic: { "x-topic": `orders/${what}`, "x-shop": null } });
    const first = { id: "1", topic: orders("create").topic };
    expect(await ids.of({ ...at, id: "1", ...orders("create") })).toEqual(first);
    now += 299_000;
    expect(await idOf({ id: "2", ...orders("paid") })).toBe("2");
    expect(await idOf({ id: "3", ...orders("paid") })).toBe("2");
    // One delivery has one topic.
    expect(await ids.of({ ...at, id: "1", ...orders("cancelled") })).toEqual(first);
    now += 2_000;
    expect(await ids.of({ ...at, id: "4", ...orders("cancelled") })).toEqual(first);
    expect(await idOf({ id: "5", ...orders("paid") })).toBe("2");
    expect(await idOf({ id: "6", ...orders("create") })).toBe("1");
  });

  test("are the first ones at once if the sender has one topic for a body", async () => {
    const first = { id: "1", topic: { kind: "issues" } };
    expect(await ids.of({ ...at, ...first, several: false })).toEqual(first);
    expect(await ids.of({ ...at, id: "2", topic: { kind: "push" }, several: false })).toEqual(first);
  });

  test("are those of four topics at most", async () => {
    const taken = await Promise.all(
      ["a", "b", "c", "d", "e", "f", "g"].map((what) => idOf({ topic: { what } })),
    );
    expect(new Set(taken).size).toBe(4);
    expect(new Set(await Promise.all(["x", "y"].map((what) => idOf({ topic: { what } })))).size).toBe(1);
  });
});

describe("limits", () => {
  const limits = (perTenant: number) => {
    const windows = new RateWindows(null);
    return { accept: (tenant_id: string, now: number) => countSigned(windows, perTenant, tenant_id, now) };
  };
  const tooMany = expect.objectContaining({
    type: "rate_limited",
    data: { retry_after_seconds: 60, limit: 2, window_seconds: 60 },
  });

  test("count what is signed per tenant", async () => {
    const counted = limits(2);
    await counted.accept("tn_1", NOON);
    await counted.accept("tn_1", NOON);
    await expect(counted.accept("tn_1", NOON)).rejects.toEqual(tooMany);
    await counted.accept("tn_2", NOON);
    await counted.accept("tn_1", NOON + 60_000);
  });

  test("are off at 0", async () => {
    const none = limits(0);
    for (let i = 0; i < 100; i++) await none.accept("tn_1", NOON);
  });
});

test.each([
  ["github", "/w/acme/github"],
  ["a b/c", "/w/acme/a%20b%2Fc"],
  ["/repository/owner", "/w/acme"],
  ["header:X-From", "/w/acme"],
])("the address of the source %s is %s", (source, path) => expect(webhookPath("acme", source)).toBe(path));

test("the same body of a sender that repeats bodies is another event a minute later", async () => {
  const temporary = await temporaryStore();
  try {
    let now = NOON;
    const firstIds = new FirstIds(temporary.store.collection(WebhookBodyModel), () => now, 7);
    const id = async (mapping: string) => {
      const given = { tenant: { id: "tn_1" }, webhook: { _id: "whk_1", source: "s", mapping }, headers: {} };
      const signed = { ...given, signature: { scheme: mapping, id: null, digest: "sha256:0" } };
      return (await asFirst(firstIds, signed as unknown as Signed)).default_id;
    };
    const [first, other] = [await id("dropbox"), await id("jira")];
    now += 59_000;
    expect([await id("dropbox"), await id("jira")]).toEqual([first, other]);
    now += 1000;
    expect(await id("dropbox")).not.toBe(first);
    expect(await id("jira")).toBe(other);
  } finally {
    await temporary.remove();
  }
});

const AT = new Date("2026-01-31T09:30:00Z");
const refused = (n: number) => refusedEntry(`req_${n}`, AT, "signature does not match", n);
const broker = { broadcast: () => Promise.resolve() } as unknown as ServiceBroker;
const hook = (_id: string) => ({ _id, tenant_id: "tn_1" });

describe("the log of a webhook's requests", () => {
  let temporary: TemporaryStore;
  let log: RequestLog;
  let writes: number;
  let failing: boolean;

  beforeEach(async () => {
    temporary = await temporaryStore();
    const logs = temporary.store.collection(WebhookLogModel);
    const webhooks = temporary.store.collection(WebhookModel);
    const upsert = logs.upsert.bind(logs);
    [writes, failing] = [0, false];
    logs.upsert = async (changes) => {
      writes += 1;
      if (failing) throw new Error("the store is away");
      return upsert(changes);
    };
    for (const _id of ["whk_1", "whk_2"]) {
      const given = { ...hook(_id), name: _id, source: _id, mapping: "cloudevents", signature: null };
      const signing = { signing_secrets: [], signing_version: 1 };
      await webhooks.insert({ ...given, ...signing, created_at: AT, updated_at: AT });
    }
    log = new RequestLog({ logs, webhooks, report: () => {} });
    log.start();
  });
  afterEach(async () => {
    await log.stop();
    await temporary.remove();
  });

  const latest = async (id: string) => (await log.list("tn_1", id))[0]?.request_id;

  test("is written once a second, however many requests come, and keeps the last 50", async () => {
    for (let n = 0; n < 5000; n++) for (const id of ["whk_1", "whk_2"]) log.add(broker, hook(id), refused(n));
    await settle(async () => (await latest("whk_2")) === "req_4999");
    // The first request at once, the others together.
    expect(writes).toBeLessThanOrEqual(2);
    const requests = await log.list("tn_1", "whk_1");
    expect(requests.map(({ size }) => size)).toEqual(Array.from({ length: 50 }, (_, i) => 4999 - i));
  });

  test("is written when the node stops", async () => {
    log.add(broker, hook("whk_1"), refused(1));
    log.add(broker, hook("whk_1"), refused(2));
    await log.stop();
    expect(await latest("whk_1")).toBe("req_2");
  });

  test("keeps requests while the store is away, in order", async () => {
    failing = true;
    log.add(broker, hook("whk_1"), refused(1));
    await settle(() => writes > 0);
    for (let n = 0; n < 40; n++) log.add(broker, hook("whk_1"), refused(2));
    expect(writes).toBe(1);
    failing = false;
    await settle(async () => (await latest("whk_1")) === "req_2");
    expect(writes).toBe(2);
    expect((await log.list("tn_1", "whk_1")).at(-1)?.request_id).toBe("req_1");
  });

  test("is not written again for a webhook that does not exist", async () => {
    log.add(broker, hook("whk_gone"), refused(1));
    log.add(broker, hook("whk_1"), refused(2));
    await settle(async () => (await latest("whk_1")) === "req_2");
    expect(await log.list("tn_1", "whk_gone")).toEqual([]);
  });
});

test("of headers, those are kept that say what a request is about, and of others the name", () => {
  const headers = {
    ...{ host: "a", "user-agent": "b", accept: "*/*", "x-forwarded-for": "1.2.3.4", "content-length": "7" },
    ...{ authorization: "Bearer x", cookie: "c", "x-gitlab-token": "t", "x-hub-signature-256": "s" },
    ...{ "x-auth": "a", "x-session-id": "i", "x-shop-pin": "p", "x-github-token": "t", "x-tenant": "acme" },
    ...{ "content-type": "application/json", "x-github-event": "issues", "ce-type": "com.example.t" },
    ...{ "x-event-key": "repo:push", "x-kind": "k", "x-long-type": "l".repeat(1500), "x-late": "1" },
  };
  const hidden = "authorization cookie x-gitlab-token x-hub-signature-256 x-auth x-session-id".split(" ");
  expect(keptHeaders(headers, ["header:X-Tenant", "header:X-Auth", "/body", null])).toEqual({
    ...Object.fromEntries([...hidden, "x-shop-pin", "x-github-token", "x-late"].map((name) => [name, null])),
    ...{ "content-type": "application/json", "x-github-event": "issues", "ce-type": "com.example.t" },
    ...{ "x-event-key": "repo:push", "x-kind": "k", "x-tenant": "acme" },
  });
});
