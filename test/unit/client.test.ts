import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { Type } from "typebox";
import { openApiDocument } from "../../docs/generate/openapi/openapi.ts";
import { nullable, type Operation, oneOf, operation } from "../../lib/contract/contract.ts";
import { parseOrigin } from "../../packages/client/access.ts";
import { parseTime } from "../../packages/client/cli/times.ts";
import { titleOf } from "../../packages/client/client.ts";
import { ApiError } from "../../packages/client/errors.ts";
import { describe as describeOperation, nameOf, tableOf } from "../../packages/client/generate/operations.ts";
import { type Document, typesOf } from "../../packages/client/generate/types.ts";
import { OPERATIONS } from "../../packages/client/generated/operations.ts";
import type { Api } from "../../packages/client/generated/types.ts";
import { Leases } from "../../packages/client/leases.ts";
import { jsonLine, LineSplitter } from "../../packages/client/lines.ts";
import { allPages } from "../../packages/client/paging.ts";
import { pauseBefore } from "../../packages/client/request.ts";
import { messagesOf } from "../../packages/client/sse.ts";
import { operations } from "../../services/contracts.ts";
import { titleOf as titleOfTool } from "../../services/edge/mcp/defaults.ts";

const thing = operation({
  ...{ action: "things.look_up", route: "GET /things/{thing_id}", summary: "Look a thing up" },
  access: { by: "any", scope: "send" },
  path: { thing_id: Type.String({ description: "Id of the thing." }) },
  query: { colour: Type.Optional(oneOf(["red", "blue"])) },
  results: { 200: Type.Object({ name: nullable(Type.String()) }, { title: "Thing" }), 204: null },
}) as unknown as Operation;
const list = operation({
  ...{ action: "things.list", route: "GET /things", summary: "List things", access: { by: "any" } },
  query: { offset: Type.Optional(Type.Integer()) },
  results: {
    200: Type.Object({ things: Type.Array(Type.Object({ id: Type.String() })), total: Type.Integer() }),
  },
}) as unknown as Operation;
const change = operation({
  ...{ action: "things.change", route: "PATCH /things/{thing_id}", summary: "Change a thing" },
  ...{ access: { by: "any" }, path: { thing_id: Type.String() } },
  body: { tags: Type.Array(Type.String()), extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  ...{ produces: ["text/csv", "application/pdf"], results: { 200: Type.String() } },
}) as unknown as Operation;

describe("the generated table", () => {
  test("is what the contracts say (else: npm run openapi)", () => {
    const file = join(import.meta.dirname, "../../packages/client/generated/operations.ts");
    expect(readFileSync(file, "utf8") === tableOf(operations)).toBe(true);
  });
});

describe("the types", () => {
  const typesFor = async (ops: Operation[]) => {
    const table = { things: Object.fromEntries(ops.map((op) => [nameOf(op)[1], describeOperation(op)])) };
    const types = await typesOf(openApiDocument(ops) as unknown as Document, table);
    return types.replace(/\s+/g, " ");
  };

  test("name every operation's call with its words, parameters and result", async () => {
    const types = await typesFor([thing, list, change]);
    expect(types).toContain(
      "Look a thing up. * * For agents and people. Needs the scope `send`. */ lookUp: Call<",
    );
    expect(types).toContain(
      "interface ThingsLookUpParams { /** @description Id of the thing. */ thing_id: string;",
    );
    expect(types).toContain('colour?: "red" | "blue"; }');
    expect(types).toContain("type ThingsLookUpResult = Thing | undefined;");
    expect(types).toContain("export interface Thing { name: string | null; }");
    expect(types).toContain(
      'list: PagedCall<ThingsListParams, ThingsListResult, ThingsListResult["things"][number]>',
    );
    expect(types).toContain("tags: string[]; extra?: { [key: string]: unknown; }; }");
    expect(types).toContain("type ThingsChangeResult = string | Blob;");
  });

  test("are those of the document, under the names of operations and schemas", async () => {
    const document = JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"));
    const types = await typesOf(document, OPERATIONS);
    for (const name of ["Memory", "MemoriesCreateParams", "MemoriesSearchResult"])
      expect(types).toContain(`export interface ${name} {`);
    expect(types).toMatch(/export type FaultCode =\s+"validation_failed"/);
    expect(types).not.toMatch(/\bcomponents\b|\bpaths\b|interface Error\b/);
  });
});

test.each([
  ["The press stops.\nAt noon.", "The press stops."],
  ["\r\n## The press \r\nAt noon.", "The press"],
  [`${"word ".repeat(30)}`, `${"word ".repeat(22)}word…`],
  ["😀".repeat(121), `${"😀".repeat(119)}…`],
  [" \n ", "Untitled"],
])("a memory's title is its first line, cut at a word: %j", (text, title) =>
  expect([titleOf(text), titleOfTool(text)]).toEqual([title, title]),
);

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

  test("reads an unpaged array at most one more time", async () =>
    expect(await walk(() => [{ id: "a" }], "")).toEqual({ asked: [0, 1], found: [{ id: "a" }] }));
});

test.each([
  ["doubles to a minute", null, [125, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]],
  ["is as long as the service asks for", 7, [7050, 7050, 7050]],
  ["is at most a minute, whatever the service asks for", 3600, [60_000]],
])("the pause before a retry %s", (_, retryAfter, expected) => {
  const random = jest.spyOn(Math, "random").mockReturnValue(0);
  const parts = {
    code: "service_unavailable",
    status: 503,
    details: {},
    requestId: null,
    retryAfter,
  } as const;
  const error = new ApiError("later", parts);
  expect(expected.map((_, at) => pauseBefore(at + 1, error))).toEqual(expected);
  random.mockReturnValue(1);
  expect(pauseBefore(1, error)).toBe(Math.min(60_000, retryAfter === null ? 375 : retryAfter * 1000 + 150));
  random.mockRestore();
});

test.each([
  ...["https://h.test", "https://h.test/", "https://h.test/v1", "https://h.test/v1/", "https://h.test/mcp"],
  ...["https://h.test//mcp/?tools=all#x", " HTTPS://h.test/V1\n"],
])("the address %j is understood", (url) => {
  expect(parseOrigin(url).toLowerCase()).toBe("https://h.test");
  expect(parseOrigin(url.replace("h.test", "h.test/proxied")).toLowerCase()).toBe("https://h.test/proxied");
});

describe("lines end at LF, CR and CRLF only", () => {
  const odd = "next\u0085line, line\u2028separator, paragraph\u2029separator, form\\ffeed";
  const inChunks = (text: string, size: number) => {
    const bytes = new TextEncoder().encode(text);
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
    return chunks;
  };

  test.each([1, 2, 3, 5, 1000])("in a stream of server-sent events in chunks of %d bytes", async (size) => {
    const text = `\ufeffdata: ["${odd}"]\r\revent: x\r\nid: dlv_1\r\ndata: {"a":"ä"}\r\n\r\n:\n\rretry: 1000\n\ndata: [2,\rdata: 3]\n\ndata: cut`;
    const body = ReadableStream.from(inChunks(text, size)) as ReadableStream<Uint8Array>;
    const found = [];
    for await (const { event, id, data } of messagesOf(body)) found.push([event, id, data]);
    expect(found).toEqual([
      ["message", undefined, [JSON.parse(`"${odd}"`)]],
      ["x", "dlv_1", { a: "ä" }],
      ["message", undefined, [2, 3]],
    ]);
  });

  test.each([1, 2, 3, 5, 1000])("in a text in chunks of %d bytes", (size) => {
    const splitter = new LineSplitter();
    const lines = inChunks(`a\r\n\r\nb\r\rc\n\n${odd}\r\nlast ä`, size).flatMap((chunk) =>
      splitter.take(chunk),
    );
    expect([...lines, ...splitter.end()]).toEqual(["a", "", "b", "", "c", "", odd, "last ä"]);
  });

  test("and JSON is written so that readers who know more of them read one line", () => {
    const line = jsonLine({ text: odd });
    expect(JSON.parse(line)).toEqual({ text: odd });
    expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
  });
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
    leases.hold({ id: "dlv_1", lease: "first" }, 2001);
    await jest.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([{ delivery_ids: ["dlv_1"], lease: ["first"], seconds: 3 }]);
    leases.clear();
    expect(problems).toEqual([]);
  } finally {
    jest.useRealTimers();
  }
});

test.each([
  ["2031-06-01T08:15:00+02:00", "2031-06-01T06:15:00.000Z"],
  ["2031-06-01t08:15:00.25z", "2031-06-01T08:15:00.250Z"],
  ["2031-06-01 08:15-03:30", "2031-06-01T11:45:00.000Z"],
  ["2032-02-29 08:15", new Date(2032, 1, 29, 8, 15).toISOString()],
  ["2032-02-29", new Date(2032, 1, 29).toISOString()],
  ["2031-06-01T08:15:30", new Date(2031, 5, 1, 8, 15, 30).toISOString()],
])("the time %s is %s", (typed, time) => expect(parseTime("at", typed)).toBe(time));
