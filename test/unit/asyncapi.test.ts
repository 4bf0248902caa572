import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Ajv, type Options } from "ajv";
import addFormatsModule from "ajv-formats";
import { asyncApiDocument } from "../../docs/generate/openapi/asyncapi.ts";
import { PLATFORM_EVENTS } from "../../lib/cloudevents/platform-types.ts";
import { INSTALLED } from "../../services/extensions.ts";
import type { Json } from "../support/http.ts";

const document = asyncApiDocument() as Json;
const schema = createRequire(import.meta.url)("@asyncapi/specs/schemas/3.0.0.json");

/** A validator of JSON Schema draft 7, the dialect of AsyncAPI. */
function newAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({ strict: false, ...options });
  (addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
  return ajv;
}

const ajv = newAjv().addSchema({ components: document.components }, "doc");
const compile = (node: Json) => ajv.compile(JSON.parse(JSON.stringify(node).replaceAll('"#/', '"doc#/')));
const at = (ref: string): Json =>
  ref
    .slice(2)
    .split("/")
    .reduce((node: Json, key) => node?.[key], document);

test("the document is valid by the official schema of AsyncAPI 3.0", () => {
  // It brings the schema of schemas with it.
  const isValid = newAjv({ meta: false, validateSchema: false }).compile(schema);
  expect([isValid(document), isValid.errors]).toEqual([true, null]);
  expect(isValid({ ...document, asyncapi: "2.6.0" })).toBe(false);
});

test("the committed document is this one, with the package's version", () => {
  const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, "../..", name), "utf8"));
  expect(read("docs/asyncapi.json")).toEqual(JSON.parse(JSON.stringify(document)));
  expect(document.info.version).toBe(read("package.json").version);
});

test("examples fit their schemas", () => {
  for (const [channel, { messages }] of Object.entries<Json>(document.channels))
    for (const [name, { payload, headers, examples = [] }] of Object.entries<Json>(messages)) {
      const fits = compile(payload);
      for (const example of examples)
        expect([channel, name, fits(example.payload), fits.errors]).toEqual([channel, name, true, null]);
      for (const [header, { examples, ...of }] of Object.entries<Json>(headers?.properties ?? {}))
        expect([header, !examples || ajv.validate(of, examples[0])]).toEqual([header, true]);
    }
});

test("has a message for each event of the service, which no other type and no other data fits", () => {
  const { messages } = document.channels.platformEvents;
  expect(Object.keys(messages)).toEqual(
    [PLATFORM_EVENTS, ...INSTALLED.map(({ events = {} }) => events)].flatMap(Object.keys),
  );
  for (const [type, { payload, examples }] of Object.entries<Json>(messages)) {
    const fits = compile(payload);
    const [{ payload: event }] = examples;
    const { [Object.keys(event.data)[0] as string]: _, ...data } = event.data;
    const wrong = [{ type: "com.example.other" }, { data }, { data: undefined }];
    expect([type, wrong.filter((change) => fits({ ...event, ...change }))]).toEqual([type, []]);
  }
});

test("has no reference that leads nowhere, and operations use messages of their channel only", () => {
  for (const [, ref] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
    expect([ref, at(ref as string) !== undefined]).toEqual([ref, true]);
  for (const [name, { channel, messages, reply }] of Object.entries<Json>(document.operations)) {
    const own = [...messages, ...(reply?.messages ?? [])];
    expect([name, own.length > 0]).toEqual([name, true]);
    for (const { $ref } of own)
      expect([name, $ref.startsWith(`${channel.$ref}/messages/`)]).toEqual([name, true]);
  }
});
