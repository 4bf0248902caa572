/**
 * Writes generated/types.ts, the types of the client, from docs/openapi.json. It is not committed: each type
 * check and each build write it.
 */
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { OPERATIONS } from "../generated/operations.ts";
import type { Operation } from "../operation.ts";
import { isJson, type JsonSchema } from "./json.ts";

/** The read fields of an operation in the document. */
interface Described {
  summary: string;
  description?: string;
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: JsonSchema }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}
type Content = Record<string, { schema: JsonSchema }>;
type Table = Record<string, Record<string, Operation>>;

export interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** Formats for types of TypeScript that JSON Schema lacks. */
const UNDEFINED: JsonSchema = { type: "string", format: "undefined" };
const BLOB: JsonSchema = { type: "string", format: "binary" };
const NO_FIELDS: JsonSchema = { type: "string", format: "no fields" };

/** Returns the types of a document and the interface `Api` of the operations in a table. */
export async function typesOf({ paths, components }: Document, table: Table): Promise<string> {
  const { Error: error, OAuthError: _, ...named } = components.schemas;
  const schemas: Record<string, JsonSchema> = { ...named, FaultCode: faultCodes(error as JsonSchema) };
  const groups = Object.entries(table).map(([service, calls]) => {
    const rows = Object.entries(calls).map(([name, operation]) => {
      const { method, path, root } = operation;
      const described = paths[`${root ? "" : "/v1"}${path}`]?.[method.toLowerCase()] as Described;
      const prefix = capital(service) + capital(name);
      schemas[`${prefix}Params`] = mergeParams(described, operation);
      schemas[`${prefix}Result`] = findResult(described);
      const text = [`${described.summary}.`, described.description].filter(Boolean).join("\n\n");
      return `    /** ${text.replaceAll("*/", "* /").replaceAll("\n", "\n     * ")} */\n    ${name}: ${writeCall(operation, prefix)};\n`;
    });
    return `  ${service}: {\n${rows.join("")}  };\n`;
  });
  return [
    "// Written by `npm run client:types` from docs/openapi.json.\n",
    'import type { Call, PagedCall, StreamCall } from "../operation.ts";\n\n',
    "/** Every operation of the service: `api.<domain>.<operation>(params)`. */\n",
    `export interface Api {\n${groups.join("")}}\n\n`,
    await declared(schemas),
  ].join("");
}

function faultCodes(error: JsonSchema): JsonSchema {
  const code = error.properties?.error?.properties?.code as JsonSchema;
  return { ...code, description: "The codes of errors." };
}

/** Returns the one object that has an operation's parameters of path, query and body. */
function mergeParams({ parameters = [], requestBody }: Described, { whole }: Operation): JsonSchema {
  const placed = parameters.filter((each) => each.in === "path" || each.in === "query");
  const properties: Record<string, JsonSchema> = {};
  for (const { name, description, schema } of placed) properties[name] = { ...schema, description };
  const required = placed.filter((each) => each.required).map(({ name }) => name);
  const body = bodyOf(requestBody?.content);
  if (!body) return placed.length ? { type: "object", properties, required } : NO_FIELDS;
  if (whole)
    return { type: "object", properties: { ...properties, [whole]: body }, required: [...required, whole] };
  return {
    // Webhooks send bodies of any form.
    ...(body.properties ? body : { additionalProperties: true }),
    type: "object",
    properties: { ...properties, ...body.properties },
    required: [...required, ...(body.required ?? [])],
  };
}

function bodyOf(content: Content = {}): JsonSchema | undefined {
  const [json] = Object.entries(content).filter(([type]) => type.endsWith("json"));
  return json?.[1].schema ?? content["*/*"]?.schema;
}

/** Returns what a call answers: JSON, a text, a file, or nothing. */
function findResult({ responses }: Described): JsonSchema {
  const good = Object.entries(responses).filter(([status]) => status < "300");
  const kinds = good.flatMap(([, { content }]) => {
    if (!content) return [UNDEFINED];
    const json = Object.entries(content).find(([type]) => isJson(type))?.[1];
    const others = Object.keys(content).filter((type) => !isJson(type));
    const text = others.length ? [{ type: "string" }] : [];
    const file = others.some((type) => !type.startsWith("text/")) ? [BLOB] : [];
    return [...(json ? [json.schema] : []), ...text, ...file];
  });
  const distinct = [...new Map(kinds.map((kind) => [JSON.stringify(kind), kind])).values()];
  return distinct.length === 1 ? (distinct[0] as JsonSchema) : { anyOf: distinct };
}

function writeCall({ stream, pages }: Operation, prefix: string): string {
  if (stream) return `StreamCall<${prefix}Params>`;
  if (!pages) return `Call<${prefix}Params, ${prefix}Result>`;
  const item = pages.items === "" ? `${prefix}Result[number]` : `${prefix}Result["${pages.items}"][number]`;
  return `PagedCall<${prefix}Params, ${prefix}Result, ${item}>`;
}

/** Declares each schema under its name, as an interface if it is an object: editors then show the name. */
async function declared(schemas: Record<string, JsonSchema>): Promise<string> {
  const document = { openapi: "3.1.0", info: { title: "", version: "" }, paths: {}, components: { schemas } };
  const nodes = await openapiTS(document as unknown as OpenAPI3, {
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
    silent: true,
    transform: ({ format }) => SPECIAL[format ?? ""],
  });
  const components = nodes.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === "components");
  const declarations = membersOf(membersOf(components).find(({ name }) => name.text === "schemas")?.type).map(
    (member) => {
      const { name, type } = member;
      const node = ts.isTypeLiteralNode(type)
        ? factory.createInterfaceDeclaration(EXPORTED, name, undefined, undefined, type.members)
        : factory.createTypeAliasDeclaration(EXPORTED, name, undefined, type);
      return ts.setSyntheticLeadingComments(node, ts.getSyntheticLeadingComments(member));
    },
  );
  return astToString(declarations).replaceAll(/components\["schemas"\]\["(\w+)"\]/g, "$1");
}

type Member = ts.PropertySignature & { name: ts.Identifier; type: ts.TypeNode };

function membersOf(node: ts.Node | undefined): Member[] {
  return (node as ts.TypeLiteralNode).members as unknown as Member[];
}

const { factory } = ts;
const EXPORTED = [factory.createModifier(ts.SyntaxKind.ExportKeyword)];
const NEVER = factory.createKeywordTypeNode(ts.SyntaxKind.NeverKeyword);
const SPECIAL: Record<string, ts.TypeNode> = {
  [BLOB.format as string]: factory.createTypeReferenceNode("Blob"),
  [UNDEFINED.format as string]: factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword),
  [NO_FIELDS.format as string]: factory.createTypeReferenceNode("Record", [NEVER, NEVER]),
};

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export async function writeTypes(): Promise<void> {
  const [from, to] = ["../../../docs/openapi.json", "../generated/types.ts"] as const;
  const fileAt = (path: string) => new URL(path, import.meta.url);
  const wanted = await typesOf(JSON.parse(await readFile(fileAt(from), "utf8")), OPERATIONS);
  // A compiler may be reading it.
  if (wanted !== (await readFile(fileAt(to), "utf8").catch(() => ""))) await writeFile(fileAt(to), wanted);
}

if (import.meta.main) await writeTypes();
