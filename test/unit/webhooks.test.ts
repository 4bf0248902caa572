import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { RateWindows } from "../../services/platform/admission/rate-windows.ts";
import { asFirst, FirstIds, type Signed } from "../../services/sense/ingest/delivery-id.ts";
import { WebhookBodyModel } from "../../services/sense/ingest/ingest.model.ts";
import { readPayload } from "../../services/sense/ingest/payload.ts";
import { countSigned } from "../../services/sense/ingest/receive.ts";
import { webhookPath } from "../../services/sense/ingest/webhooks.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";

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
