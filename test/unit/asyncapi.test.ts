import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv, type Options } from "ajv";
import addFormatsModule from "ajv-formats";
import { PLATFORM_EVENTS } from "../../lib/cloudevents/platform-types.ts";
import { operations } from "../../services/contracts.ts";
import { asyncApiDocument } from "../../services/edge/gateway/asyncapi/asyncapi.ts";
import { openApiDocument } from "../../services/edge/gateway/openapi/openapi.ts";

// biome-ignore lint/suspicious/noExplicitAny: the documents are walked in many ways
type Json = any;
const document = asyncApiDocument() as Json;
const openapi = openApiDocument(operations) as Json;
const schema = createRequire(import.meta.url)("@asyncapi/specs/schemas/3.0.0.json");

/** A validator of JSON Schema draft 7, the dialect of AsyncAPI. */
function newAjv(options: Options = {}): Ajv {
  const ajv = new Ajv({ strict: false, ...options });
  (addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
  return ajv;
}

const read = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../docs", name), "utf8"));
const at = (ref: string): Json =>
  ref
    .slice(2)
    .split("/")
    .reduce((node: Json, key) => node?.[key], document);
const messages: [string, Json][] = Object.entries<Json>(document.channels).flatMap(
  ([channel, { messages }]) =>
    Object.entries<Json>(messages).map(([name, message]): [string, Json] => [`${channel} ${name}`, message]),
);

test("the document is valid by the official schema of AsyncAPI 3.0", () => {
  // It brings the schema of schemas with it.
  const isValid = newAjv({ meta: false, validateSchema: false }).compile(schema);
  expect([isValid(document), isValid.errors]).toEqual([true, null]);
  const [, { payload: _, ...rest }] = messages[0] as [string, Json];
  expect(isValid({ ...document, asyncapi: "2.6.0" })).toBe(false);
  expect(isValid({ ...document, components: { messages: { broken: { ...rest, headers: 1 } } } })).toBe(false);
});

test("the committed document is this one, and the version is the package's", () => {
  expect(read("asyncapi.json")).toEqual(JSON.parse(JSON.stringify(document)));
  const { version } = read("../package.json");
  expect([document.info.version, openapi.info.version, read("openapi.json").info.version]).toEqual([
    version,
    version,
    version,
  ]);
});

describe("schemas", () => {
  test("with a name that the OpenAPI document has too are the same", () => {
    const both = Object.keys(document.components.schemas).filter((name) => openapi.components.schemas[name]);
    expect(both.toSorted()).toEqual([
      ...["CloudEvent", "DeliveryEvent", "Matched", "PublishResult", "RejectedEvent", "WebhookBatchResult"],
      "WebhookResult",
    ]);
    for (const name of both)
      expect([name, document.components.schemas[name]]).toEqual([name, openapi.components.schemas[name]]);
  });

  test("fit their examples, and are needed by a message", () => {
    const ajv = newAjv();
    ajv.addSchema({ components: document.components }, "doc");
    const whole = (node: Json) => JSON.parse(JSON.stringify(node).replaceAll('"#/', '"doc#/'));
    const used = new Set<string>();
    for (const [name, { payload, headers, examples = [] }] of messages) {
      for (const [, ref] of JSON.stringify({ payload }).matchAll(/"\$ref":"([^"]+)"/g))
        used.add(ref as string);
      const fits = ajv.compile(whole(payload));
      for (const example of examples)
        expect([name, fits(example.payload), fits.errors]).toEqual([name, true, null]);
      for (const [header, { examples: [example] = [], ...of }] of Object.entries<Json>(
        headers?.properties ?? {},
      ))
        expect([name, header, example === undefined || ajv.validate(of, example)]).toEqual([
          name,
          header,
          true,
        ]);
    }
    expect(used.size).toBeGreaterThan(8);
  });
});

test("has a message for each event of the service, which no other type and no other data fits", () => {
  const { messages } = document.channels.platformEvents;
  expect(Object.keys(messages)).toEqual(Object.keys(PLATFORM_EVENTS));
  const ajv = newAjv();
  ajv.addSchema({ components: document.components }, "doc");
  for (const [type, { payload, examples, summary }] of Object.entries<Json>(messages)) {
    expect(summary).toBe(PLATFORM_EVENTS[type as keyof typeof PLATFORM_EVENTS]);
    const fits = ajv.compile(JSON.parse(JSON.stringify(payload).replaceAll('"#/', '"doc#/')));
    const [{ payload: event }] = examples;
    expect([type, fits(event), fits({ ...event, type: "com.example.other" })]).toEqual([type, true, false]);
    const { [Object.keys(event.data)[0] as string]: _, ...data } = event.data;
    expect([type, fits({ ...event, data }), fits({ ...event, data: undefined })]).toEqual([
      type,
      false,
      false,
    ]);
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

test("names operations and addresses as the OpenAPI document does", () => {
  const ids = new Map<string, string>();
  for (const [path, item] of Object.entries<Json>({ ...openapi.paths, ...openapi.webhooks }))
    for (const { operationId } of Object.values<Json>(item)) ids.set(operationId, path);
  const { publishPlatformEvent, ...others } = document.operations;
  expect(publishPlatformEvent.action).toBe("send");
  for (const [name, { channel }] of Object.entries<Json>(others)) {
    const { address } = at(channel.$ref);
    expect([name, ids.get(name)]).toEqual([name, address ?? "delivery"]);
  }
  expect(Object.entries<Json>(document.operations).map(([name, { action }]) => `${action} ${name}`)).toEqual([
    ...["receive publishEvent", "send publishPlatformEvent", "send streamDeliveries", "send pushDelivery"],
    ...["receive receiveWebhook", "receive receiveWebhookFromSource"],
  ]);
});

test("signed pushes name the headers of Standard Webhooks, and binary ones those of CloudEvents", () => {
  const { structured, binary } = document.channels.pushes.messages;
  expect(structured.headers.required).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
  expect(structured.payload).toEqual({ $ref: "#/components/schemas/CloudEvent" });
  expect(Object.keys(binary.headers.properties)).toEqual(
    expect.arrayContaining(["webhook-signature", "ce-id", "ce-type", "ce-source", "ce-specversion"]),
  );
});
