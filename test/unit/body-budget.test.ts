import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { ServiceSchema } from "moleculer";
import { Type } from "typebox";
import { operation } from "../../lib/contract/contract.ts";
import { operations } from "../../services/contracts.ts";
import { action } from "../../services/runtime.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type Api, api } from "../support/http.ts";
import { ofKits } from "../support/kits.ts";
import { type TemporaryStore, temporaryStore } from "../support/own-store.ts";
import { settle } from "../support/settle.ts";
import { refusal } from "../support/tenancy.ts";

const MB = 1_048_576;
const MOST_ITEMS = 40;

describe("an operation that takes a list of up to 4 MB", () => {
  const take = operation({
    ...{ action: "things.take", route: "POST /things", summary: "Take things", access: { by: "any" } },
    body: { things: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MOST_ITEMS }) },
    ...{ maxBody: 4 * MB, results: { 201: Type.Object({ taken: Type.Integer() }) } },
  });
  /** The tenants of the calls. */
  let calls: string[] = [];
  let gate: Promise<void> | null = null;
  const things: ServiceSchema = {
    name: "things",
    actions: {
      take: action(take, async ({ params, meta }) => {
        calls.push(meta.caller.tenant_id);
        await gate;
        return { taken: params.things.length };
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

  test("gets it whole, with its numbers, in one call", async () => {
    const wide = Array.from({ length: 30 }, (_, n) => Array.from({ length: 300 }, () => n));
    for (const list of [some(5, 10), some(38, 100_000), wide]) {
      const { status, body } = await ann.post("/things", { things: list });
      expect({ status, body }).toEqual({ status: 201, body: { taken: list.length } });
    }
    expect(calls).toHaveLength(3);
  });

  test.each([
    [400, { field: "things" }, { things: some(MOST_ITEMS + 1, 50_000) }],
    [400, { field: "things" }, { things: "x".repeat(MB) }],
    [400, { field: "things" }, `{"things": [${"1,".repeat(30_000)}${JSON.stringify("x".repeat(MB))}]}`],
    [400, { field: "others" }, { others: some(12, 100_000) }],
    [400, { field: "" }, some(12, 100_000)],
    [400, { field: "" }, `{"things": [${JSON.stringify("x".repeat(MB))}`],
    [413, { max_values: 100_000 }, `{"things": [${"1,".repeat(MB)}1]}`],
    [413, { max_values: 100_000 }, `{"things": [${"[],".repeat(100_000)}1`],
    [413, { max_size: 4 * MB }, { things: some(30, 150_000) }],
  ])("refuses with %d one that does not fit, before it does any of it", async (status, details, body) => {
    const answer = await ann.post("/things", body);
    const code = status === 413 ? "payload_too_large" : "validation_failed";
    expect(answer).toMatchObject(refusal(status, code, details));
    expect(JSON.stringify(answer.body).length).toBeLessThan(1000);
    expect(calls).toEqual([]);
  });

  test("takes memory in which callers and tenants find room next to others", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    // While so much is parsed in this process, the gateway may refuse what arrives late.
    const post = async (by: Api, size: number) => {
      for (;;) {
        const answer = await by.post("/things", { things: some(size, 100_000) });
        if (answer.status !== 503) return answer;
      }
    };
    // Each is nearly a quarter of what a caller may hold.
    const flood = Array.from({ length: 6 }, () => post(ann, 38));
    await settle(() => calls.length > 3);
    const others = ["bob", "cyd"].map((name) => post(api(gateway, name), 10));
    await settle(() => calls.length > 5);
    expect(calls.toSorted()).toEqual([...Array(5).fill("tn_one"), "tn_two"]);
    resolve();
    gate = null;
    const statuses = (await Promise.all([...others, ...flood])).map(({ status }) => status);
    expect(statuses).toEqual(Array(8).fill(201));
  });
});

describe("a body of very many values", () => {
  const heavy = { field: Array.from({ length: 95_000 }, () => 0) };
  const keep = operation({
    ...{ action: "heavy.keep", route: "POST /heavy", summary: "Keep something", access: { by: "any" } },
    ...{ body: { field: Type.Array(Type.Unknown()) }, results: { 201: Type.Object({}) } },
  });
  const enter = operation({
    ...{ action: "heavy.enter", route: "POST /enter", summary: "Enter without a token" },
    ...{ access: { by: "public" }, body: { field: Type.Unknown() }, results: { 201: Type.Object({}) } },
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
    for (let i = 0; i < 3; i++) answers.push(await ann.post("/heavy", heavy));
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

  test("is too large without a token", async () => {
    const nobody = api(gateway);
    expect((await nobody.post("/enter", { field: "x".repeat(8_000) })).status).toBe(201);
    const answer = await nobody.post("/enter", { field: "x".repeat(9_000) });
    expect(answer).toMatchObject(refusal(413, "payload_too_large", { max_size: 8192 }));
  });
});

/** Bodies over a megabyte: `parsed` within the limit of values, or only what stands beside a text that goes to a `blob`. */
const LARGE = {
  ...(await ofKits("largeBodies")),
  ...{ "events.publish": "parsed", "memories.create": "parsed", "memories.create_batch": "parsed" },
  ...{ "memories.update": "parsed", "runs.complete_step": "parsed" },
  ...{ "tenants.import_rows": "parsed", "gateway.mcp": "parsed", "documents.upload": "blob" },
  ...{ "exemplars.create": "blob", "outputs.save": "blob" },
};

test("every operation that reads more than a megabyte is known, and parses at most ten for callers", () => {
  const large = operations.filter(({ maxBody = 0, maxBodySetting }) => maxBody > MB || maxBodySetting);
  const ways = large.map(({ action, byReference }) => [action, byReference ? "blob" : "parsed"]);
  expect(Object.fromEntries(ways)).toEqual(LARGE);
  // The operator's one large body is a row within a text: no values to build.
  const parsed = large.filter(({ byReference, access }) => !byReference && access.by !== "operator");
  const most = parsed.map(({ maxBody = 0 }) => maxBody);
  expect(Math.max(...most)).toBe(10 * MB);
});
