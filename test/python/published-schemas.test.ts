/** @needs jsonschema: Python's validator of JSON Schema, which many MCP clients use. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { RE2JS } from "re2js";
import { openApiDocument } from "../../docs/generate/openapi/openapi.ts";
import { compileCheck } from "../../lib/contract/validator.ts";
import { operations } from "../../services/contracts.ts";
import { makeTools } from "../../services/edge/mcp/tools.ts";
import { updateProject } from "../../services/identity/projects/projects.contract.ts";
import { OutputId } from "../../services/work/outputs/outputs.contract.ts";

// Published schemas are read by validators of many languages: one that cannot read a schema often refuses the whole
// catalogue. So they hold only what all of them read, and mean by it the same.

type Json = Record<string, unknown>;
type Found = [where: string, schema: Json];

const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;
const document = openApiDocument(operations) as Json;
const tools = [...makeTools(operations).values()].map(({ tool }) => tool);

const inTools = tools.map(({ name, inputSchema }): Found => [`${name} input`, inputSchema as Json]);
const inDocument: Found[] = [...schemasIn(document, "")];

/** Every schema of an OpenAPI document by its location: whole ones, not their parts. */
function* schemasIn(node: unknown, at: string): Generator<Found> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    const here = `${at}/${key}`;
    if (key === "schema") yield [here, value];
    else if (here === "/components/schemas")
      yield* Object.entries(value).map(([name, each]): Found => [`${here}/${name}`, each as Json]);
    else yield* schemasIn(value, here);
  }
}

/** A schema and all its parts. */
function* partsOf([at, schema]: Found): Generator<Found> {
  yield [at, schema];
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" || keyword === "patternProperties") {
      for (const [name, each] of Object.entries(value as Json))
        yield* partsOf([`${at}.${name}`, each as Json]);
    } else if (keyword === "anyOf") {
      for (const [i, each] of (value as Json[]).entries()) yield* partsOf([`${at}|${i}`, each]);
    } else if (["items", "additionalProperties"].includes(keyword) && typeof value === "object")
      yield* partsOf([`${at}[]`, value as Json]);
  }
}

const KEYWORDS = [
  ...["type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items"],
  ..."minimum maximum minLength maxLength minItems maxItems uniqueItems pattern format".split(" "),
  ...["description", "default", "examples", "contentEncoding"],
];
// Formats that OpenAI's strict functions accept too.
const FORMATS = ["date-time", "date", "email", "uuid"];
const LATER_KEYWORDS = ["$ref", "writeOnly", "readOnly", "deprecated", "title", "contentMediaType"];
const LATER_FORMATS = ["uri", "uri-reference", "password"];

// Not in every engine, or not with the same meaning: `\d` and `\w` are of all scripts in Python.
const FORBIDDEN = [
  { name: "a Unicode property", pattern: /\\[pP]/ },
  { name: "a look around, a named group, flags", pattern: /\(\?(?!:)/ },
  { name: "a reference back", pattern: /\\[1-9k]/ },
  { name: "an escape of one language", pattern: /\\[uUAZzGbBdDwWhHRXQEK]/ },
  { name: "a possessive or lazy quantifier", pattern: /[*+?}][+?]/ },
  { name: "a bracket in a class", pattern: /(?<!\\)\[[^\]]*(?<!\\)\[/ },
];

function wrongWith(schemas: Found[], keywords: string[], formats: string[]): string[] {
  return schemas.flatMap((found) =>
    [...partsOf(found)].flatMap(([at, { pattern, format, ...part }]) => [
      ...Object.keys(part)
        .filter((keyword) => !keywords.includes(keyword))
        .map((keyword) => `${at}: ${keyword}`),
      ...(format !== undefined && !formats.includes(format as string) ? [`${at}: format ${format}`] : []),
      ...FORBIDDEN.filter((each) => each.pattern.test((pattern ?? "") as string)).map(
        ({ name }) => `${at}: ${name} in ${pattern}`,
      ),
    ]),
  );
}

test("there are schemas to look at", () =>
  expect([inTools.length > 100, inDocument.length > 300]).toEqual([true, true]));

describe("what is published has only what every engine takes", () => {
  test("MCP", () => expect(wrongWith(inTools, KEYWORDS, FORMATS)).toEqual([]));

  test("OpenAPI", () =>
    expect(wrongWith(inDocument, [...KEYWORDS, ...LATER_KEYWORDS], [...FORMATS, ...LATER_FORMATS])).toEqual(
      [],
    ));
});

describe("what is published compiles", () => {
  test.each([
    ["as draft 7", Ajv],
    ["as 2020-12", Ajv2020],
  ])("in ajv, strict, %s", (_, Version) => {
    const ajv = new Version({ strict: true, allowUnionTypes: true });
    addFormats(ajv);
    for (const [at, schema] of inTools) expect([at, typeof ajv.compile(schema)]).toEqual([at, "function"]);
  });

  test("in RE2", () => {
    for (const found of [...inTools, ...inDocument]) {
      for (const [, { pattern }] of partsOf(found)) if (pattern) RE2JS.compile(pattern as string);
    }
  });

  const PROGRAM = `
import json, re, sys
from jsonschema import Draft7Validator, Draft202012Validator
wrong = []
def patterns(node):
    if isinstance(node, list):
        for each in node: yield from patterns(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "pattern" and isinstance(value, str): yield value
            elif key not in ("examples", "default", "const", "enum"): yield from patterns(value)
for at, schema in json.load(sys.stdin):
    for version in (Draft7Validator, Draft202012Validator):
        try:
            version.check_schema(schema)
            for pattern in patterns(schema): re.compile(pattern)
            for name, part in schema.get("properties", {}).items():
                for example in part.get("examples", []) if "$ref" not in json.dumps(part) else []:
                    version(part).validate(example)
        except Exception as error:
            wrong.append(f"{at}: {type(error).__name__} {str(error).splitlines()[0][:100]}")
print(json.dumps(wrong))
`;
  const [python, ...options] = ["python3", "-W", "ignore", "-c"] as const;
  const isHere = spawnSync(python, [...options, "import jsonschema"]).status === 0;
  (isHere ? test : test.skip)("in Python's jsonschema", () => {
    const input = JSON.stringify([...inTools, ...inDocument]);
    const { stdout, stderr } = spawnSync(python, [...options, PROGRAM], { input, encoding: "utf8" });
    expect({ stderr, wrong: JSON.parse(stdout || "null") }).toEqual({ stderr: "", wrong: [] });
  });
});

describe("the service itself is as strict as before", () => {
  const isOutput = compileCheck(OutputId);
  test.each(["quarterly-report", "été-2026", "报告", "a1"])("%s names an output", (id) =>
    expect(isOutput(id)).toBeNull(),
  );
  test.each(["a--b", "-a", "a/b", "a b", "a_b", "“a”", "a…", "a\u2028"])("%j names none", (id) =>
    expect(isOutput(id)?.type).toBe("validation_error"),
  );

  const isChange = compileCheck(updateProject.params);
  test.each(["2026-12-31", "2026-12-31T10:00:00Z", null])("%s is a target date", (target_date) =>
    expect(isChange({ key: "a", target_date })).toBeNull(),
  );
  test.each(["2026-02-30", "2026-12-31T10:00", "tomorrow", ""])("%j is none", (target_date) =>
    expect(isChange({ key: "a", target_date })?.data).toMatchObject({
      field: "target_date",
      expected: "a date, or a date and time (RFC 3339)",
    }),
  );
});
