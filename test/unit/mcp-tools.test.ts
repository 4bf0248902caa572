import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { exampleOf } from "../../docs/generate/openapi/schemas.ts";
import { pathsOfAliases } from "../../lib/contract/contract.ts";
import type { JsonSchema } from "../../lib/contract/json-schema.ts";
import { operations } from "../../services/contracts.ts";
import { understood } from "../../services/edge/mcp/arguments.ts";
import { toRequest } from "../../services/edge/mcp/request.ts";
import { prune, selectKept } from "../../services/edge/mcp/results.ts";
import { valueSchema, withoutNulls } from "../../services/edge/mcp/schemas.ts";
import { choose, makeTools, type OperationTool, PRESETS } from "../../services/edge/mcp/tools.ts";

const tools = makeTools(operations);
const all = [...tools.values()];
const core = choose(tools, undefined);
const toolOf = (name: string) => tools.get(name) as OperationTool;
const schemaOf = (name: string) => toolOf(name).tool.inputSchema as JsonSchema;

const ajv = new Ajv({ strictTypes: false, formats: {}, validateFormats: false, allowUnionTypes: true });

/** Whether a schema allows null anywhere but in required fields. */
function hasNull({ required = [], properties = {}, ...rest }: JsonSchema): boolean {
  const optional = Object.entries(properties).filter(([name]) => !(required as string[]).includes(name));
  return /"null"/.test(JSON.stringify([rest, optional]));
}

/** Returns the names of fields that neither they nor their alternatives describe, with those within them. */
function undescribed({ properties = {}, items, anyOf = [] }: JsonSchema): string[] {
  const own = Object.entries(properties).filter(([, field]) => !isDescribed(field));
  const within = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])];
  return [...own.map(([name]) => name), ...within.flatMap(undescribed)];
}

function isDescribed({ description, anyOf = [] }: JsonSchema): boolean {
  return Boolean(description) || anyOf.some(isDescribed);
}

test.each(all.map(({ op, tool }) => [tool.name, op, tool] as const))("the tools: %s", (name, op, tool) => {
  expect(name).toMatch(/^[a-z0-9]+_[a-z0-9_]+$/);
  expect(tool.description).toMatch(/^(Use|Call) this .*\b[Rr]eturns?\b/s);
  expect(tool.description?.toLowerCase()).not.toContain(op.summary.toLowerCase());
  expect(undescribed(tool.inputSchema as JsonSchema)).toEqual([]);
  ajv.compile(tool.inputSchema);
  if (op.method !== "PATCH") expect(hasNull(tool.inputSchema as JsonSchema)).toBe(false);
});

test.each(all.map((each) => [each.tool.name, each] as const))(
  "%s takes what its operation takes, each argument in its place",
  (_, { op, tool }) => {
    const { path = {}, query = {}, body = {} } = op;
    const [first] = Object.values(body) as JsonSchema[];
    const fields = op.wholeBody ? first?.properties : { ...path, ...query, ...body };
    const given = Object.fromEntries(
      Object.entries(fields as Record<string, JsonSchema>).map(([name, field]) => [name, exampleOf(field)]),
    );
    expect(Object.keys(tool.inputSchema.properties ?? {}).sort()).toEqual(Object.keys(given).sort());
    const asked = toRequest(op, given);
    const inBody = JSON.parse(asked.body ?? "{}");
    const there = { ...asked.path, ...asked.query, ...inBody };
    expect(there).toEqual({ ...given, ...Object.fromEntries(textsOf(path, given)) });
    // What may be in both is in the body.
    const inQuery = Object.keys(query).filter((name) => !(name in body));
    expect([asked.path, asked.query].map(Object.keys)).toEqual([Object.keys(path), inQuery]);
  },
);

/** Of a path all values are text. */
const textsOf = (path: object, given: Record<string, unknown>) =>
  Object.keys(path).map((name) => [name, String(given[name])] as const);

/** Of a list of tools, at four characters a token. */
const tokens = (listed: readonly OperationTool[]) =>
  Math.ceil(JSON.stringify(listed.map(({ brief }) => brief)).length / 4);

describe("the presets", () => {
  test("core is listed if nobody chooses, has about 20 tools and at most 6,000 tokens", () => {
    expect(core).toMatchObject({ isBrief: true, callable: tools });
    expect(core.listed.map(({ tool }) => tool.name)).toEqual([
      ...["bundles_assemble", "deliveries_ack", "deliveries_extend", "deliveries_nack", "deliveries_poll"],
      ...["documents_search", "events_publish", "handoffs_resume", "handoffs_save", "interests_create"],
      ...["memories_create", "memories_search", "memories_supersede", "outputs_get", "outputs_save"],
      ...["outputs_search", "runs_complete_step", "runs_list", "runs_position", "runs_start_step"],
    ]);
    expect(tokens(core.listed)).toBeLessThanOrEqual(6_000);
  });

  test.each(core.listed.map(({ brief, op }) => [brief.name, brief, op] as const))(
    "%s describes every parameter without repeating a title",
    (_, brief, op) => {
      expect(undescribedIn(brief.inputSchema as JsonSchema)).toEqual([]);
      expect(JSON.stringify(brief.inputSchema)).not.toMatch(/"(title":"|pattern|maxLength|examples)/);
      for (const [name, { description = "" }] of Object.entries(brief.inputSchema.properties ?? {}) as [
        string,
        { description?: string },
      ][])
        expect(plain(description)).not.toBe(plain(name));
      expect(op.mcp).toBeTruthy();
    },
  );

  test.each(Object.entries(PRESETS))("%s has tools, and each can be called", (name) => {
    const { listed, callable, isBrief } = choose(tools, name);
    expect(listed.length).toBeGreaterThan(5);
    expect([...callable.keys()]).toEqual(listed.map(({ tool }) => tool.name));
    expect(isBrief).toBe(name !== "all");
  });

  test("join with domains and names, which are listed in full", () => {
    const { listed, isBrief } = choose(tools, "core, documents,channels_list");
    expect(isBrief).toBe(false);
    const names = listed.map(({ tool }) => tool.name);
    expect(names).toEqual(expect.arrayContaining(["events_publish", "documents_get", "channels_list"]));
    expect(names).not.toContain("channels_create");
    expect(() => choose(tools, "cores")).toThrow(/no preset, domain or tool is named cores/);
    expect(choose(tools, "Memories.search,").listed.map(({ tool }) => tool.name)).toEqual([
      "memories_search",
    ]);
    expect(choose(tools, "").listed).toEqual(core.listed);
  });
});

const plain = (text: string) => text.toLowerCase().replace(/[^a-z]/g, "");

/** Below lists only fields are described: the list says what its items are. */
function undescribedIn({ properties = {}, items, anyOf = [] }: JsonSchema): string[] {
  const own = Object.entries(properties).filter(([, field]) => !isDescribed(field));
  const within = [...Object.values(properties), ...anyOf, ...(items ? [items] : [])];
  return [...own.map(([name]) => name), ...within.flatMap(undescribedIn)];
}

describe("arguments", () => {
  const given = (name: string, args: object) => understood(toolOf(name).op, schemaOf(name), { ...args });

  test.each([
    ["another word", "memories_search", { q: "terms" }, { query: "terms" }],
    ["a single id for a list", "deliveries_ack", { delivery_id: "dlv_1" }, { delivery_ids: ["dlv_1"] }],
    ["a nested field", "handoffs_save", { next_action: "Ship" }, { payload: { next_action: "Ship" } }],
    [
      "one next to others of its holder",
      "handoffs_save",
      { payload: { completed: "A" }, next_action: "Ship" },
      { payload: { completed: "A", next_action: "Ship" } },
    ],
    ["one whose parameter is there", "memories_search", { query: "a", q: "b" }, { query: "a", q: "b" }],
    ["another case", "runs_position", { runId: "1" }, { run_id: "1" }],
    ["a singular", "memories_create", { tag: "a" }, { tags: ["a"] }],
    ["a name without its id", "memories_create", { project: "p" }, { project_id: "p" }],
    ["an event in an object", "events_publish", { event: { eventType: "a" } }, { type: "a" }],
    ["an event's attribute", "events_publish", { type: "a", sourceid: "b" }, { type: "a", sourceid: "b" }],
    ["data as text", "events_publish", { type: "a", data: '{"n": 1}' }, { type: "a", data: { n: 1 } }],
    [
      "a text that looks like JSON and is to be a text",
      "events_publish",
      { type: "a", data: "[1]", datacontenttype: "text/plain" },
      { type: "a", data: "[1]", datacontenttype: "text/plain" },
    ],
    ["data that is no JSON", "events_publish", { type: "a", data: "{no" }, { type: "a", data: "{no" }],
    ["numbers as text", "memories_search", { query: "a", limit: "5" }, { query: "a", limit: 5 }],
    ["a number for a text", "memories_search", { query: 7 }, { query: "7" }],
    ["a list for one value", "memories_search", { query: ["a"] }, { query: "a" }],
    ["a list as text", "memories_create", { tags: '["a", "b"]' }, { tags: ["a", "b"] }],
    ["a list with commas", "memories_create", { tags: "a, b" }, { tags: ["a", "b"] }],
    ["a sentence for a list", "runs_create", { success_criteria: "a, b" }, { success_criteria: ["a, b"] }],
    ["an object as text", "memories_create", { metadata: '{"a": 1}' }, { metadata: { a: 1 } }],
    ["a text for its only field", "runs_create", { steps: ["a"] }, { steps: [{ step_key: "a" }] }],
    [
      "one within an object",
      "handoffs_save",
      { name: 7, decisions: ["Monthly"] },
      { name: "7", payload: { decisions: [{ title: "Monthly" }] } },
    ],
    ["what cannot be converted", "memories_create", { importance: "high" }, { importance: "high" }],
    ["what nobody knows", "memories_create", { mood: "good" }, { mood: "good" }],
    [
      "one whose holder is none",
      "handoffs_save",
      { payload: "x", next_action: "y" },
      { payload: "x", next_action: "y" },
    ],
  ])("%s", (_, name, args, expected) => expect(given(name, args)).toEqual(expected));

  test("of every contract lead to a parameter, and are none themselves", () => {
    for (const { op, tool } of all) {
      const { properties = {} } = tool.inputSchema as JsonSchema;
      for (const [alias, path] of Object.entries(pathsOfAliases(op))) {
        expect(properties[alias]).toBeUndefined();
        const [name = "", field] = path.split(".");
        expect(properties[name]).toBeDefined();
        if (field) expect(properties[name]?.properties?.[field]).toBeDefined();
      }
    }
  });
});

describe("pruned answers", () => {
  const schema = {
    type: "object",
    properties: {
      tenant_id: { type: "string" },
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: {
            ...{ name: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
            score: { type: "number" },
            ...{ at: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] }, data: {} },
            other: { anyOf: [{ type: "string" }, { type: "null" }] },
          },
        },
      },
    },
  } as JsonSchema;
  const row = {
    ...{ name: "a", tags: [], score: 0.123456, at: "2026-01-02T03:04:05.678Z", data: { n: null, list: [] } },
    ...{ other: null, extra: null },
  };

  test("have no nulls, no empty lists in items, and round; what the schema leaves open stays", () => {
    const answer = { tenant_id: "tn_1", rows: [row] };
    const small = {
      ...{ name: "a", score: 0.123, at: "2026-01-02T03:04:05Z", data: { n: null, list: [] }, extra: null },
    };
    expect(prune(answer, selectKept(schema))).toEqual({ rows: [small] });
    expect(prune({ rows: [] }, selectKept(schema))).toEqual({ rows: [] });
  });

  test("keep the paths that a contract names", () => {
    const kept = selectKept(schema, ["rows.name", "rows.data"]);
    expect(prune({ tenant_id: "tn_1", rows: [row] }, kept)).toEqual({
      rows: [{ name: "a", data: { n: null, list: [] }, extra: null }],
    });
    const flags = {
      ...schema,
      properties: { ok: { type: "boolean" }, list: { type: "array" } },
    } as JsonSchema;
    const unlessEmpty = selectKept(flags, ["ok?", "list?"]);
    expect(prune({ ok: false, list: [] }, unlessEmpty)).toEqual({});
    expect(prune({ ok: true, list: ["a"] }, unlessEmpty)).toEqual({ ok: true, list: ["a"] });
  });

  test("of every contract that names paths have something at each", () => {
    for (const { op, tool } of all) {
      const { answers = [] } = typeof op.mcp === "object" ? op.mcp : {};
      for (const path of answers.map((each) => each.replace(/\?$/, "")))
        expect([tool.name, path, at(valueSchema(op) as JsonSchema, path)]).toEqual([tool.name, path, true]);
    }
  });
});

function at(schema: JsonSchema, path: string): boolean {
  const [name = "", ...rest] = path.split(".");
  const parts = alternatives(schema);
  const field = parts.map(({ properties }) => properties?.[name]).find(Boolean);
  return field !== undefined && (rest.length === 0 || at(field, rest.join(".")));
}

/** With the items of lists. */
const alternatives = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...(schema.anyOf ?? []).flatMap(alternatives),
  ...(schema.items ? alternatives(schema.items) : []),
];

describe("nulls", () => {
  test.each([
    ["where a text is expected", "memories_list", { scope: null, limit: 5 }, { limit: 5 }],
    ["where over HTTP null is a value", "memories_search", { query: "a", project_id: null }, { query: "a" }],
    ["in an object", "bundles_assemble", { caps: { memories: null, outputs: 1 } }, { caps: { outputs: 1 } }],
    [
      "within the objects of a list",
      "runs_create",
      { goal: "g", steps: [{ step_key: "a", title: null }] },
      { goal: "g", steps: [{ step_key: "a" }] },
    ],
  ])("%s are left out", (_, tool, given, left) => expect(withoutNulls(schemaOf(tool), given)).toEqual(left));

  test.each([
    ["where a change clears", "memories_update", { id: "1", tags: null, expires_at: null }],
    ["where something has to be said", "runs_assign_step", { step_key: "a", assigned_user_id: null }],
    ["in what may be anything", "events_publish", { type: "a", data: { n: null, list: [null] } }],
    ["in what the schema does not know", "memories_create", { unknown: null, metadata: { a: null } }],
  ])("%s stay", (_, tool, given) => expect(withoutNulls(schemaOf(tool), given)).toEqual(given));
});
