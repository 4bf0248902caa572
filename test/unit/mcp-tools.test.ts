import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { operations } from "../../services/contracts.ts";
import type { JsonSchema } from "../../services/edge/gateway/openapi/schemas.ts";
import { withoutNulls } from "../../services/edge/mcp/schemas.ts";
import { toolsOf } from "../../services/edge/mcp/tools.ts";

const all = [...toolsOf(operations).values()];
const schemaOf = (name: string) => toolsOf(operations).get(name)?.tool.inputSchema as JsonSchema;

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

describe("the tools", () => {
  test.each(all.map(({ op, tool }) => [tool.name, op, tool] as const))("%s", (name, op, tool) => {
    expect(name).toMatch(/^[a-z]+_[a-z_]+$/);
    expect(tool.description?.length).toBeGreaterThan(10);
    expect(tool.description?.toLowerCase()).not.toContain(op.summary.toLowerCase());
    expect(undescribed(tool.inputSchema as JsonSchema)).toEqual([]);
    const ajv = new Ajv({ strictTypes: false, formats: {}, validateFormats: false, allowUnionTypes: true });
    ajv.compile(tool.inputSchema);
    if (op.method !== "PATCH") expect(hasNull(tool.inputSchema as JsonSchema)).toBe(false);
    const isText = Boolean(op.produces || op.alsoProduces) || Object.values(op.results).includes(null);
    expect(tool.outputSchema === undefined).toBe(isText);
    if (!tool.outputSchema) return;
    ajv.compile(tool.outputSchema);
    expect(["object", "array"]).toContain(tool.outputSchema.type);
    expect(JSON.stringify(tool.outputSchema)).not.toMatch(/"(examples|x-\w+)":/);
  });

  test("are no more than an agent can read", () => {
    const shown = all.map(({ tool: { outputSchema: _, ...rest } }) => rest);
    expect(JSON.stringify(shown).length).toBeLessThan(90_000);
  });
});

describe("nulls", () => {
  test.each([
    ["where a text is expected", "memories_list", { scope: null, limit: 5 }, { limit: 5 }],
    ["where over HTTP null is a value", "memories_search", { query: "a", project_id: null }, { query: "a" }],
    [
      "within an object",
      "bundles_assemble",
      { caps: { memories: null, outputs: 1 } },
      { caps: { outputs: 1 } },
    ],
    [
      "within the objects of a list",
      "runs_create",
      { goal: "g", steps: [{ step_key: "a", title: null }] },
      { goal: "g", steps: [{ step_key: "a" }] },
    ],
  ])("%s are left out", (_, tool, given, left) => {
    expect(withoutNulls(schemaOf(tool), given)).toEqual(left);
  });

  test.each([
    ["where a change clears", "memories_update", { id: "1", tags: null, expires_at: null }],
    ["where something has to be said", "runs_assign_step", { step_key: "a", assigned_user_id: null }],
    ["in what may be anything", "events_publish", { type: "a", data: { n: null, list: [null] } }],
    ["in what the schema does not know", "memories_create", { unknown: null, metadata: { a: null } }],
  ])("%s stay", (_, tool, given) => {
    expect(withoutNulls(schemaOf(tool), given)).toEqual(given);
  });
});
