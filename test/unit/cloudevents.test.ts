import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import fc from "fast-check";
import { agentAccess, MEMORY_SCOPES, mayRead } from "../../lib/access/visibility.ts";
import { audienceIn, audienceOf, isIn } from "../../lib/cloudevents/audience.ts";
import { binaryEvent, readAttributes } from "../../lib/cloudevents/binary.ts";
import { checkCloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { attributesIn } from "../../lib/cloudevents/http.ts";
import { isPlatformType, reservedPrefix } from "../../lib/cloudevents/platform-types.ts";
import type { Fault } from "../../lib/contract/faults.ts";

const GOOD = { specversion: "1.0", id: "1", source: "/shop", type: "com.example.sold" };

// `POST /events` is checked by hand-written code, not by its schema: an event that the document allows and the service
// refuses would be found out in production only.
const document = JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8"));
const ajv = new Ajv2020({ strict: false });
(addFormatsModule as unknown as (ajv: Ajv2020) => void)(ajv);
const documentAllows = ajv.compile(document.components.schemas.CloudEvent);

function refusal(event: unknown): { type: string; field: unknown; value: unknown } | null {
  try {
    checkCloudEvent(event);
    return null;
  } catch (err) {
    const { type, data } = err as Fault;
    const { field, value, expected } = data as Record<string, unknown>;
    expect(typeof expected).toBe("string");
    return { type, field, value };
  }
}

const LONG = "x".repeat(4097);

test.each<[string, unknown[]]>([
  ["specversion", ["1.0"]],
  ["id", ["é€😀", "x".repeat(4096)]],
  ["source", ["urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "1-555-123-4567", "#sensor", "shop"]],
  ["source", ["http://[::1]:8080/x?y=1#z", "https://a.example/b?c#d", "urn:a:b"]],
  ["subject", ["s", "Grüße 👋", "a b/c#1"]],
  ["time", ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.123456789+02:00", "2024-02-29T00:00:00Z"]],
  ["time", ["2016-12-31T23:59:60Z"]],
  ["datacontenttype", ['application/json; charset=utf-8; x="a;b"', "application/vnd.acme+json"]],
  ["datacontenttype", ["application/json", "text/plain; charset=utf-8", 'a/b+c; d="e"']],
  ["dataschema", ["urn:x:y", "https://a.example/schema.json"]],
  ["data", [null, [1, "two", { three: 3 }], "a", { a: [1.5] }]],
  ["data_base64", ["", "aGVsbG8=", "SGVsbG8h"]],
  ["urgent", [true, -2147483648, "yes", ""]],
])("an envelope is accepted, here and in the document, with each value of %s", (field, values) => {
  for (const value of values) {
    const event = { ...GOOD, [field]: value };
    expect([value, documentAllows(event)]).toEqual([value, true]);
    expect(checkCloudEvent(event)).toBe(event);
  }
});

describe("an envelope is refused as invalid_event", () => {
  test.each<[string, unknown[]]>([
    ["specversion", [undefined, "0.3", "", 1]],
    ["id", [undefined, "", 7, "a\u0000b", "a\nb", "a\u0085", LONG]],
    ["source", [undefined, "", "with space", "/bad%2", {}, LONG, 7]],
    ["type", [undefined, "", ["a"], "line\nbreak", "a\tb", "a".repeat(256), 7]],
    ["subject", ["", 1, "a\u007f", LONG]],
    ["time", ["", "yesterday", "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2026-01-01", 1769851800]],
    ["time", ["2026-01-01T24:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z"]],
    ["datacontenttype", ["", "json", "a/", "/b", "ö/b", "a b/c", `a/${LONG}`]],
    ["dataschema", ["/relative", "", "https://a b", `https://a/${LONG}`]],
    ["data_base64", ["not base64!", "ä", "a b", "a=b=", "====", 1]],
  ])("as the document has it: each value of %s", (field, values) => {
    for (const value of values) {
      expectRefused(field, value);
      expect([value, documentAllows({ ...GOOD, [field]: value })]).toEqual([value, false]);
    }
  });

  test.each<[string, unknown]>([
    ["source", "1:2"],
    ["source", "/grüße"],
    ["subject", "\ud800"],
    ["datacontenttype", "text/plain; charset"],
    ["data_base64", "aGVsbG8"],
    ["data_base64", "aGVs=G8="],
    ["fractional", 1.5],
    ["toolarge", 2147483648],
    ["nested", { a: 1 }],
    ["listed", []],
    ["Upper", "x"],
    ["with_underscore", "x"],
    ["with-dash", "x"],
    ["", "x"],
  ])("%j: %j", (field, value) => expectRefused(field, value));

  function expectRefused(field: string, value: unknown) {
    const event = structuredClone({ ...GOOD, [field]: value });
    const shown = typeof value === "string" && value.length > 200 ? expect.any(String) : (value ?? null);
    expect(refusal(event)).toEqual({ type: "invalid_event", field, value: shown });
  }

  test.each([[null], [[]], ["text"], [7]])("what is no object: %j", (value) =>
    expect(refusal(value)).toMatchObject({ type: "invalid_event", field: "" }),
  );

  test("data together with data_base64", () =>
    expect(refusal({ ...GOOD, data: 1, data_base64: "aGVsbG8=" })).toMatchObject({ field: "data_base64" }));
});

test("an attribute that is null is unset, and data that is null stays", () => {
  const event = { ...GOOD, subject: null, anything: null, data: null };
  expect(checkCloudEvent(event)).toEqual({ ...GOOD, data: null });
  expect(refusal({ ...GOOD, id: null })).toMatchObject({ field: "id" });
});

test("hostile attributes are refused without backtracking: the time limit of a test would tell", () => {
  for (const unit of ["a/", "%20", ";a=a", " ", "0", "\\"]) {
    const long = `${unit.repeat(4_000 / unit.length)}\u0000`;
    for (const field of ["source", "dataschema", "time", "datacontenttype"])
      expect(refusal({ ...GOOD, [field]: `a/b${long}` })).toMatchObject({ field });
  }
  expect(refusal({ ...GOOD, data_base64: `${"A".repeat(4_000_000 - 1)}!` })).toMatchObject({
    field: "data_base64",
  });
});

describe("a broker's message in binary mode", () => {
  const headers = { specversion: "1.0", id: "1", source: "/shop", type: "com.example.sold" };
  const named = (prefix: string, more = {}) =>
    Object.fromEntries(
      Object.entries({ ...headers, ...more }).map(([name, value]) => [prefix + name, value]),
    );

  test.each(["cloudevents:", "cloudevents_", "ce-"])("has attributes after %s", (prefix) => {
    const given = { ...named(prefix, { partitionkey: "7" }), "x-other": "no attribute" };
    expect(readAttributes(given)).toEqual({ ...headers, partitionkey: "7" });
  });

  test("may tell its time in milliseconds, as AMQP does", () => {
    expect(readAttributes(named("cloudevents_", { time: "1769851800000" }))?.time).toBe(
      "2026-01-31T09:30:00.000Z",
    );
    expect(readAttributes(named("cloudevents_", { time: "2026-01-31T09:30:00Z" }))?.time).toBe(
      "2026-01-31T09:30:00Z",
    );
  });

  test("keeps the types of its extensions, and only theirs", () => {
    const due = new Date("2026-01-31T09:30:00Z");
    const values = {
      ...{ count: -7, most: 2 ** 31, ratio: 0.5, urgent: false, due, key: Uint8Array.of(0, 255, 16) },
    };
    expect(readAttributes(named("cloudevents:", { ...values, id: 17, time: due }))).toEqual({
      ...{ ...headers, id: "17", time: "2026-01-31T09:30:00.000Z" },
      ...{ count: -7, most: "2147483648", ratio: "0.5", urgent: false },
      ...{ due: "2026-01-31T09:30:00.000Z", key: "AP8Q" },
    });
  });

  test("is told by its specversion", () => expect(readAttributes({ "ce-type": "x", other: "y" })).toBeNull());
});

test.each([
  ["", '{"a":1}', { data: { a: 1 } }],
  ["", " [1]", { data_base64: "IFsxXQ==" }],
  ["", "{no JSON", { data_base64: "e25vIEpTT04=" }],
  ["", "17", { data_base64: "MTc=" }],
  ["Application/JSON", "17", { data: 17, datacontenttype: "Application/JSON" }],
])("data of the type %j: %s", (type, body, data) =>
  expect(binaryEvent(GOOD, type, Buffer.from(body))).toEqual({ ...GOOD, ...data }),
);

test.each<[string, string, () => unknown]>([
  ["no JSON", "data", () => binaryEvent(GOOD, "application/json", Buffer.from("{no"))],
  ["no UTF-8", "data", () => binaryEvent(GOOD, "application/json", Buffer.from([0x22, 0xff, 0x22]))],
  ["too large a number", "data.n", () => binaryEvent(GOOD, "application/json", Buffer.from('{"n":1e999}'))],
  ["too deep", "data", () => binaryEvent(GOOD, "application/json", Buffer.from("[".repeat(2000)))],
  ["a header that is no UTF-8", "subject", () => attributesIn({ "ce-id": "1", "ce-subject": "%ff" })],
])("a request in binary mode with %s is refused", (_, field, read) =>
  expect(read).toThrow(
    expect.objectContaining({ type: "invalid_event", data: expect.objectContaining({ field }) }),
  ),
);

test.each([
  ["service.run.started", "service."],
  ["memory.cited", "memory."],
  ["memory.cited.twice", ""],
  ["memory.created", ""],
  ["services.run", ""],
  ["com.example.service.x", ""],
])("%s asks for a glob that begins with %j", (type, prefix) =>
  expect([reservedPrefix(type), isPlatformType(type)]).toEqual([prefix, prefix !== ""]),
);

const TYPE = "service.memory.created";

test("an event about a row is for whom may read the row, and for nobody else", () => {
  const agents = fc.constantFrom("ag_1", "ag_2", "ag_3");
  const team = fc.constantFrom("team_1", "team_2", null);
  const row = fc.record({
    scope: fc.constantFrom(...MEMORY_SCOPES),
    agent_id: fc.option(agents, { nil: null }),
    team_id: team,
  });
  fc.assert(
    fc.property(row, fc.record({ id: agents, team_id: team }), (about, agent) => {
      const audience = audienceOf(about);
      const ids = audienceIn({ type: TYPE, ...(audience && { audience }) });
      expect(ids === null || isIn(ids, agent)).toBe(mayRead(agentAccess(agent), about));
    }),
  );
});

test("who sets it only the service: what a client publishes is not bound by it", () => {
  expect(audienceIn({ type: "com.example.thing", audience: "ag_1" })).toBeNull();
  expect(audienceIn({ type: "memory.cited", audience: "ag_1" })).toEqual(new Set(["ag_1"]));
});
