import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceSchema } from "moleculer";
import { operation } from "../../lib/contract.ts";
import { Type } from "../../lib/type.ts";
import { type Split, type SplitRequest, split } from "../../services/gateway/split.ts";
import { action } from "../../services/runtime.ts";
import { startGateway, type TemporaryStore, type TestGateway, temporaryStore } from "../support/gateway.ts";
import { type Api, api } from "../support/http.ts";
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
    expect(cut('{"list": "no"}', inField)).toEqual({ outline: { list: "no" }, texts: [] });
    const more = { outline: { list: "no", more: null }, texts: [] };
    expect(cut('{"list": "no", "more": [1], "other": 2}', inField)).toEqual(more);
    expect(cut('{"more": [1]}', inField)).toEqual({ outline: { more: null }, texts: [] });
    expect(cut(`"${"x".repeat(500)}"`)).toEqual({ outline: "x".repeat(200), texts: [] });
    expect(cut('{"list": [1]}')).toEqual({ outline: {}, texts: [] });
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
  let calls: { bytes: number; seed: string | undefined }[] = [];
  const things: ServiceSchema = {
    name: "things",
    actions: {
      take: action(take, ({ params, meta }) => {
        const bytes = JSON.stringify(params).length;
        calls.push({ bytes, seed: meta.idempotency_seed });
        return { taken: (params.things as { n: number }[]).map(({ n }) => n) };
      }),
    },
  };
  let files: TemporaryStore;
  let gateway: TestGateway;
  let ann: Api;

  beforeAll(async () => {
    files = await temporaryStore();
    const { store, blobs } = files;
    gateway = await startGateway({ operations: [take], services: [things], store, blobs });
    ann = api(gateway, "ann");
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
    ["things", `{"things": [${"1,".repeat(MB)}1]}`],
    ["others", { others: some(12, 100_000) }],
    ["", some(12, 100_000)],
    ["", `{"things": [${"1,".repeat(MB)}`],
  ])("refuses a large one that does not fit before it does any of it", async (field, body) => {
    const answer = await ann.post("/things", body);
    expect(answer).toMatchObject(refusal(400, "validation_failed", { field }));
    expect(JSON.stringify(answer.body).length).toBeLessThan(1000);
    expect(calls).toEqual([]);
  });
});
