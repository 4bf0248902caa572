import { describe, expect, test } from "@jest/globals";
import { binaryEvent, readAttributes } from "../../lib/cloudevents/binary.ts";
import { checkCloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { attributesIn } from "../../lib/cloudevents/http.ts";
import type { Fault } from "../../lib/contract/faults.ts";

const GOOD = { specversion: "1.0", id: "1", source: "/shop", type: "com.example.sold" };

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

test.each([
  ["with only what is required", {}],
  ["with every attribute", { subject: "s", time: "2026-01-31T09:30:00.123+02:00", dataschema: "urn:x:y" }],
  ["with a leap day", { time: "2024-02-29T00:00:00Z" }],
  ["with a leap second", { time: "2016-12-31T23:59:60Z" }],
  ["with media type parameters", { datacontenttype: 'application/json; charset=utf-8; x="a;b"' }],
  ["with a structured suffix", { datacontenttype: "application/vnd.acme+json" }],
  ["with data null", { data: null }],
  ["with data of any kind", { data: [1, "two", { three: 3 }] }],
  ["with binary data", { data_base64: "aGVsbG8=" }],
  ["with empty binary data", { data_base64: "" }],
  ["with extensions", { traceparent: "00-abc", partition: -2147483648, sampled: true, empty: "" }],
  ["with a source that is a URN", { source: "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66" }],
  ["with a source that is a path", { source: "1-555-123-4567" }],
  ["with a source that is a fragment", { source: "#sensor" }],
  ["with a source of an IPv6 host", { source: "http://[::1]:8080/x?y=1#z" }],
  ["with text of any script", { subject: "Grüße 👋" }],
])("an envelope is accepted: %s", (_, more) => {
  const event = { ...GOOD, ...more };
  expect(checkCloudEvent(event)).toBe(event);
});

describe("an envelope is refused as invalid_event", () => {
  test.each([
    ["specversion", undefined],
    ["specversion", "0.3"],
    ["specversion", 1],
    ["id", undefined],
    ["id", ""],
    ["id", 7],
    ["id", "a\u0000b"],
    ["id", "x".repeat(4097)],
    ["source", undefined],
    ["source", ""],
    ["source", "with space"],
    ["source", "1:2"],
    ["source", "/bad%2"],
    ["source", "/grüße"],
    ["source", {}],
    ["type", undefined],
    ["type", ""],
    ["type", ["a"]],
    ["type", "line\nbreak"],
    ["type", "a".repeat(256)],
    ["subject", ""],
    ["subject", 1],
    ["subject", "\ud800"],
    ["time", "yesterday"],
    ["time", "2026-02-30T00:00:00Z"],
    ["time", "2025-02-29T00:00:00Z"],
    ["time", "2026-01-01T24:00:00Z"],
    ["time", "2026-01-01T00:00:00"],
    ["time", "2026-13-01T00:00:00Z"],
    ["time", 1769851800],
    ["datacontenttype", ""],
    ["datacontenttype", "json"],
    ["datacontenttype", "text/plain; charset"],
    ["dataschema", "/relative"],
    ["dataschema", ""],
    ["data_base64", "not base64!"],
    ["data_base64", "aGVsbG8"],
    ["data_base64", "aGVs=G8="],
    ["data_base64", 1],
    ["fractional", 1.5],
    ["toolarge", 2147483648],
    ["nested", { a: 1 }],
    ["listed", []],
    ["Upper", "x"],
    ["with_underscore", "x"],
    ["with-dash", "x"],
    ["", "x"],
  ])("%j: %j", (field, value) =>
    expect(refusal({ ...GOOD, [field]: value })).toEqual({
      type: "invalid_event",
      field: field === "" ? "" : field,
      value: typeof value === "string" && value.length > 200 ? expect.any(String) : (value ?? null),
    }),
  );

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
