import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceSchema } from "moleculer";
import { Type } from "typebox";
import { operation } from "../../lib/contract/contract.ts";
import { type Split, type SplitRequest, split } from "../../services/edge/gateway/body/split.ts";
import { action } from "../../services/runtime.ts";
import { startGateway, type TemporaryStore, type TestGateway, temporaryStore } from "../support/gateway.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { refusal } from "../support/tenancy.ts";

const MB = 1_048_576;
const MOST_ITEMS = 40;

describe("a body that is cut", () => {
  const cut = (text: string, more: Partial<SplitRequest> = {}) =>
    split({ bytes: Buffer.from(text), field: null, most: 20, ...more });

  test("has its items in pieces of at most so many bytes, in order", () => {
    const items = ["a", "äöü", { b: [1, null, "x"] }, -0.5, "an item that alone is longer", true, false];
    const { texts, outline } = cut(JSON.stringify(items)) as Split;
    expect(texts.flatMap((text) => JSON.parse(text))).toEqual(items);
    expect(outline).toEqual(items.map(() => ({})));
    const long = texts.filter((text) => Buffer.byteLength(text) > 21);
    expect(long).toEqual(['["an item that alone is longer"]']);
  });

  test("shows of what does not fit next to nothing", () => {
    const inField = { field: "list" };
    expect(cut('{"list": "no"}', inField)).toMatchObject({ outline: { list: "no" }, texts: [] });
    const more = { outline: { list: "no", more: null }, texts: [] };
    expect(cut('{"list": "no", "more": [1], "other": 2}', inField)).toMatchObject(more);
    expect(cut('{"more": [1]}', inField)).toMatchObject({ outline: { more: null }, texts: [] });
    expect(cut(`"${"x".repeat(500)}"`)).toMatchObject({ outline: "x".repeat(200), texts: [] });
    expect(cut('{"list": [1]}')).toMatchObject({ outline: {}, texts: [] });
  });

  test("shows of a list that is longer than any may be its length alone", () => {
    for (const [text, field] of [
      [`[${"0,".repeat(20_000)}0]`, null],
      [`{"list": [${"0,".repeat(20_000)}0]}`, "list"],
    ] as const) {
      const { outline, texts } = cut(text, { field }) as Split;
      const list = (field ? (outline as Record<string, unknown>)[field] : outline) as unknown[];
      expect([list.length, Object.keys(list), texts]).toEqual([20_001, [], []]);
    }
  });

  test("has its items in pieces of a few thousand values, however few bytes they have", () => {
    const items = Array.from({ length: 12 }, () => Array.from({ length: 1_000 }, () => 0));
    const { texts, values } = cut(JSON.stringify(items), { most: 1_000_000 }) as Split;
    expect(texts.map((text) => JSON.parse(text).length)).toEqual([4, 4, 4]);
    expect(values).toBe(1 + 12 * 1_001);
  });

  test("holds no more values than a list may", () => {
    const splitting = cut(JSON.stringify(Array.from({ length: 110_000 }, () => ({}))));
    expect(splitting).toEqual({ notJson: expect.stringContaining("more than 200000 values"), field: "" });
  });

  test.each([
    ["[1, 2", "JSON"],
    [`${"[".repeat(2000)}${"]".repeat(2000)}`, "deeper than 1000"],
    [Buffer.from([0x22, 0xff, 0x22]).toString("latin1"), "UTF-8"],
  ])("that is no JSON says why", (text, why) => {
    const bytes = Buffer.from(text, "latin1");
    const splitting = split({ bytes, field: null, most: 20 });
    expect(splitting).toEqual({ notJson: expect.stringContaining(why), field: "" });
  });
});

describe("an operation whose list is done in pieces", () => {
  const take = operation({
    action: "things.take",
    route: "POST /things",
    summary: "Take things",
    access: { by: "any" },
    body: { things: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MOST_ITEMS }) },
    inPieces: "things",
    maxBody: 4 * MB,
    results: { 201: Type.Object({ taken: Type.Array(Type.Unknown()) }) },
  });
  let calls: { bytes: number; seed: string | undefined; tenant: string }[] = [];
  let gate: Promise<void> | null = null;
  const things: ServiceSchema = {
    name: "things",
    actions: {
      take: action(take, async ({ params, meta }) => {
        const bytes = JSON.stringify(params).length;
        calls.push({ bytes, seed: meta.idempotency_seed, tenant: meta.caller.tenant_id });
        await gate;
        return { taken: (params.things as { n: number }[]).map(({ n }) => n) };
      }),
    },
  };
  let files: TemporaryStore;
  let gateway: TestGateway;
  let ann: Api;
  let cyd: Api;

  beforeAll(async () => {
    files = await temporaryStore();
    const { store, blobs } = files;
    gateway = await startGateway({ operations: [take], services: [things], store, blobs });
    ann = api(gateway, "ann");
    cyd = api(gateway, "cyd");
  });
  beforeEach(() => {
    calls = [];
  });
  afterAll(async () => {
    await gateway?.stop();
    await files.remove();
  });

  const some = (count: number, size: number) =>
    Array.from({ length: count }, (_, n) => ({ n, text: "x".repeat(size) }));
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

  test("gets a small one whole", async () => {
    const { status, body } = await ann.post("/things", { things: some(5, 10) });
    expect({ status, body }).toEqual({ status: 201, body: { taken: numbers(5) } });
    expect(calls).toHaveLength(1);
  });

  test("gets a large one by half a megabyte, and answers as if it had got it whole", async () => {
    const { status, body, headers } = await ann.post("/things", { things: some(30, 100_000) });
    expect({ status, body }).toEqual({ status: 201, body: { taken: numbers(30) } });
    expect(headers.get("content-type")).toContain("application/json");
    expect(calls.length).toBeGreaterThan(4);
    for (const { bytes } of calls) expect(bytes).toBeLessThan(MB / 2 + 100);
  });

  test("gets one of few bytes and many values in pieces too", async () => {
    const items = Array.from({ length: 30 }, (_, n) => ({ n, list: Array.from({ length: 1_000 }, () => 0) }));
    const { status, body } = await ann.post("/things", { things: items });
    expect({ status, body }).toEqual({ status: 201, body: { taken: numbers(30) } });
    expect(calls.length).toBeGreaterThan(4);
  });

  test("makes what it makes once for an Idempotency-Key, and in each piece something else", async () => {
    const headers = { "idempotency-key": "pieces" };
    const body = { things: some(12, 100_000) };
    const first = await ann.post("/things", body, headers);
    const seeds = calls.map(({ seed }) => seed);
    expect(new Set(seeds).size).toBe(calls.length);
    expect(seeds).not.toContain(undefined);
    const again = await ann.post("/things", body, headers);
    expect(again.body).toEqual(first.body);
    expect(calls).toHaveLength(seeds.length);
  });

  test.each([
    ["things", { things: some(MOST_ITEMS + 1, 50_000) }],
    ["things", { things: "x".repeat(MB) }],
    ["things", `{"things": [${"1,".repeat(30_000)}${JSON.stringify("x".repeat(MB))}]}`],
    ["", `{"things": [${"1,".repeat(MB)}1]}`],
    ["others", { others: some(12, 100_000) }],
    ["", some(12, 100_000)],
    ["", `{"things": [${"1,".repeat(MB)}`],
  ])("refuses a large one that does not fit before it does any of it", async (field, body) => {
    const answer = await ann.post("/things", body);
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field }));
    expect(JSON.stringify(answer.body).length).toBeLessThan(1000);
    expect(calls).toEqual([]);
  });

  test("charges for large ones that it refuses, and then no longer reads them", async () => {
    const bob = api(gateway, "bob");
    const costly = `{"things": [${"{},".repeat(MB)}{}]}`;
    const answers = [];
    for (let i = 0; i < 8; i++) answers.push(await bob.post("/things", costly));
    const statuses = answers.map(({ status }) => status);
    expect([statuses[0], statuses.at(-1)]).toEqual([400, 429]);
    expect((await bob.post("/things", { things: [1] })).status).toBe(201);
    expect((await cyd.post("/things", { things: some(10, 100_000) })).status).toBe(201);
  });

  test("is read in turns with those of other tenants", async () => {
    const flood = Array.from({ length: 12 }, () => ann.post("/things", { things: some(10, 100_000) }));
    await settle(() => calls.length > 0);
    expect((await cyd.post("/things", { things: some(10, 100_000) })).status).toBe(201);
    const before = calls.filter(({ tenant }) => tenant === "tn_one").length;
    await Promise.all(flood);
    expect(calls.length - before).toBeGreaterThan(12);
  });

  test("takes memory in which those of other tenants find room", async () => {
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    // Each is a little more than a third of what a tenant may hold.
    const flood = Array.from({ length: 16 }, () => ann.post("/things", { things: some(38, 100_000) }));
    await settle(() => calls.length > 4);
    const other = cyd.post("/things", { things: some(10, 100_000) });
    await settle(() => calls.some(({ tenant }) => tenant === "tn_two"));
    const taken = calls.filter(({ tenant }) => tenant === "tn_one").length;
    open();
    gate = null;
    expect(taken).toBeLessThan(9);
    expect((await Promise.all([other, ...flood])).map(({ status }) => status)).toEqual(
      Array.from({ length: 17 }, () => 201),
    );
  });
});

describe("a body of very many values", () => {
  const heavy = { field: Array.from({ length: 19_000 }, () => 0) };
  const keep = operation({
    action: "heavy.keep",
    route: "POST /heavy",
    summary: "Keep something",
    access: { by: "any" },
    body: { field: Type.Array(Type.Unknown()) },
    results: { 201: Type.Object({}) },
  });
  const enter = operation({
    action: "heavy.enter",
    route: "POST /enter",
    summary: "Enter without a token",
    access: { by: "public" },
    body: { field: Type.Unknown() },
    results: { 201: Type.Object({}) },
  });
  let gateway: TestGateway;

  beforeAll(async () => {
    const service = {
      name: "heavy",
      actions: { keep: action(keep, () => ({})), enter: action(enter, () => ({})) },
    };
    gateway = await startGateway({ operations: [keep, enter], services: [service] });
  });
  afterAll(() => gateway?.stop());

  test("is charged to its caller until that has no more to spend, and to nobody else", async () => {
    const ann = api(gateway, "ann");
    const answers = [];
    for (let i = 0; i < 25; i++) answers.push(await ann.post("/heavy", heavy));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers[0]?.status).toBe(201);
    expect(refused[0]).toMatchObject(
      refusal(429, "rate_limited", { retry_after_seconds: expect.any(Number) }),
    );
    expect(refused[0]?.headers.get("retry-after")).toMatch(/^[1-9]/);
    expect((await ann.post("/heavy", { field: [1] })).status).toBe(201);
    expect((await api(gateway, "cyd").post("/heavy", heavy)).status).toBe(201);
  });

  test("is refused where it holds more than any may", async () => {
    const answer = await api(gateway, "cyd").post("/heavy", {
      field: Array.from({ length: 21_000 }, () => ({})),
    });
    expect(answer).toMatchObject(refusal(400, "validation_failed"));
    expect(answer.body.error.message).toContain("20000 values");
  });

  test("is too large without a token", async () => {
    const nobody = api(gateway);
    expect((await nobody.post("/enter", { field: "x".repeat(8_000) })).status).toBe(201);
    const answer = await nobody.post("/enter", { field: "x".repeat(9_000) });
    expect(answer).toMatchObject(refusal(413, "payload_too_large", { max_size: 8192 }));
  });
});
