import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { nullable, type Operation, oneOf, operation } from "../../lib/contract/contract.ts";
import { Type } from "../../lib/contract/type.ts";
import { generated } from "../../packages/client/generate/files.ts";
import { describe as describeOperation } from "../../packages/client/generate/operations.ts";
import { type JsonSchema, SchemaTypes } from "../../packages/client/generate/schema-types.ts";
import type { Api } from "../../packages/client/generated/types.ts";
import { Leases } from "../../packages/client/leases.ts";
import { allPages } from "../../packages/client/paging.ts";
import { messagesOf } from "../../packages/client/sse.ts";
import { operations } from "../../services/contracts.ts";

const typeOf = (schema: unknown) => new SchemaTypes().of(schema as JsonSchema);

describe("the generated files", () => {
  test.each(Object.entries(generated(operations)))(
    "%s is what the contracts say (else: npm run openapi)",
    (name, text) => {
      const file = readFileSync(join(import.meta.dirname, "../../packages/client/generated", name), "utf8");
      expect(file === text).toBe(true);
    },
  );

  test("name every operation's call, parameters, result and scope", () => {
    const thing = operation({
      action: "things.look_up",
      route: "GET /things/{thing_id}",
      summary: "Look a thing up",
      access: { by: "any", scope: "send" },
      path: { thing_id: Type.String() },
      query: { colour: Type.Optional(Type.String()) },
      results: { 200: Type.Object({ name: Type.String() }, { title: "Thing" }), 204: null },
    }) as unknown as Operation;
    const { "types.ts": types, "operations.ts": table } = generated([thing]);
    expect(types).toContain("Look a thing up.\n     *\n     * Needs the scope `send`. */\n    lookUp: Call<");
    expect(types).toContain("interface ThingsLookUpParams {\n  thing_id: string;\n  colour?: string;\n}");
    expect(types).toContain("type ThingsLookUpResult = Thing | undefined;");
    expect(types).toContain("export interface Thing {\n  name: string;\n}");
    expect(table).toContain('lookUp: {"method":"GET","path":"/things/{thing_id}","scope":"send"}');
  });
});

test.each([
  [Type.String(), "string"],
  [Type.Integer(), "number"],
  [nullable(Type.Boolean()), "boolean | null"],
  [oneOf(["a", "b"]), '"a" | "b"'],
  [Type.Literal(1), "1"],
  [Type.Array(nullable(Type.Number())), "Array<number | null>"],
  [Type.Record(Type.String(), Type.Unknown()), "Record<string, unknown>"],
  [Type.Object({}), "Record<string, unknown>"],
  [
    Type.Object({ a: Type.Null() }, { additionalProperties: true }),
    "{\na: null;\n[name: string]: unknown;\n}",
  ],
  [Type.Object({ "a-b": Type.Optional(Type.Null()) }), '{\n"a-b"?: null;\n}'],
  [Type.Union([Type.Literal("a"), Type.Object({ b: Type.Unknown() })]), '"a" | {\nb: unknown;\n}'],
])("%j is written as TypeScript", (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});

test("a list says how to go on with it", () => {
  const list = (query: object, result: object) =>
    describeOperation({
      method: "GET",
      url: "/a",
      action: "a.b",
      access: { by: "any" },
      query,
      results: { 200: result },
    } as never);
  const rows = Type.Object({ rows: Type.Array(Type.String()), total: Type.Integer() });
  expect(list({ offset: {} }, rows).pages).toEqual({ items: "rows", by: "offset" });
  expect(list({ offset: {}, cursor: {} }, rows).pages).toEqual({ items: "rows", by: "cursor" });
  expect(list({ offset: {} }, Type.Array(Type.String())).pages).toEqual({ items: "", by: "offset" });
  expect(list({}, rows).pages).toBeUndefined();
});

describe("walking a list by offset", () => {
  const walk = async (answer: (offset: number) => unknown, items = "rows") => {
    const asked: number[] = [];
    const call = async ({ offset = 0 }: { offset?: number }) => {
      asked.push(offset);
      return answer(offset);
    };
    const found: unknown[] = [];
    for await (const item of allPages({ items, by: "offset" }, call, {})) found.push(item);
    return { asked, found };
  };

  test("an item that was moved to the next page comes once", async () => {
    const pages: Record<number, string[]> = { 0: ["a", "b"], 2: ["b", "c"], 4: [] };
    expect(await walk((offset) => ({ rows: pages[offset]?.map((id) => ({ id })), total: 5 }))).toEqual({
      asked: [0, 2, 4],
      found: [{ id: "a" }, { id: "b" }, { id: "c" }],
    });
  });

  test("reads an unpaged array at most one more time", async () => {
    expect(await walk(() => [{ id: "a" }], "")).toEqual({ asked: [0, 1], found: [{ id: "a" }] });
  });
});

test("server-sent events are read however they are cut", async () => {
  const text =
    ': hello\r\n\r\nevent: delivery\nid: dlv_1\ndata: {"a":"ä"}\n\nretry: 1000\n\ndata: [1,\ndata: 2]\n\ndata: cut';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const found = [];
    for await (const message of messagesOf(body)) found.push(message);
    expect(found).toEqual([
      { event: "delivery", id: "dlv_1", data: { a: "ä" } },
      { event: "message", id: undefined, data: [1, 2] },
    ]);
  }
});

test("a lease is extended when half of it is over, and nothing is asked before any is due", async () => {
  jest.useFakeTimers();
  try {
    const asked: unknown[] = [];
    const extend = async (params: unknown) => asked.push(params);
    const problems: unknown[] = [];
    const leases = new Leases({ deliveries: { extend } } as unknown as Api, (problem) =>
      problems.push(problem),
    );
    leases.hold("dlv_1", 2001);
    await jest.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([{ delivery_ids: ["dlv_1"], seconds: 3 }]);
    leases.clear();
    expect(problems).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});
