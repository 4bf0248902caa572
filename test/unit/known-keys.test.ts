import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { nullable } from "../../lib/contract/contract.ts";
import { closed, compileKeyCheck } from "../../lib/contract/known-keys.ts";
import { nearest } from "../../lib/contract/nearest.ts";
import { operations } from "../../services/contracts.ts";
import { loadKits } from "../support/kits.ts";

const inner = Type.Object({ title: Type.String(), note: Type.Optional(Type.String()) });
const schema = Type.Object({
  ...{ name: Type.String(), inner: Type.Optional(nullable(inner)), list: Type.Optional(Type.Array(inner)) },
  either: Type.Optional(Type.Union([Type.String(), inner, Type.Array(Type.Object({ key: Type.String() }))])),
  named: Type.Optional(Type.Record(Type.String(), inner)),
  free: Type.Optional(Type.Object({}, { additionalProperties: true })),
  anything: Type.Optional(Type.Unknown()),
});
const check = compileKeyCheck(schema);

test.each([
  [{ nmae: 1 }, "nmae", "name"],
  [{ name: "a", inner: { titel: "b" } }, "inner.titel", "title"],
  [{ list: [{ title: "a" }, { notes: "b" }] }, "list.1.notes", "note"],
  [{ either: { tilte: 1 } }, "either.tilte", "title"],
  [{ either: [{ kye: 1 }] }, "either.0.kye", "key"],
  [{ named: { x: { tytle: 1 } } }, "named.x.tytle", "title"],
  [JSON.parse('{"__proto__": {"title": 1}}'), "__proto__", expect.any(String)],
  [{ constructor: 1 }, "constructor", expect.any(String)],
])("an unknown key is found: %j", (value, field, expected) => {
  const fault = check(value);
  expect(fault).toMatchObject({
    type: "validation_failed",
    data: { field, value: expect.anything(), expected },
  });
  expect(fault?.message).toContain("Allowed: ");
});

test.each([
  [{ name: 1, inner: null, list: [], either: "x", named: { any: { title: 1 } } }],
  [{ free: { any: { key: 1 } }, anything: [{ at: "all" }] }],
  [{ list: "no list", inner: 7 }],
  ["no object"],
  [null],
])("%j has none", (value) => expect(check(value)).toBeNull());

test("an object without any field names no nearest one", () =>
  expect(compileKeyCheck(Type.Object({}))({ a: 1 })).toMatchObject({ data: { expected: "no fields" } }));

test("a key is shown shortened, and compared in no time", () =>
  expect(check({ ["x".repeat(1_000_000)]: 1 })?.message.length).toBeLessThan(500));

test("a closed schema allows no more than the check", () => {
  expect(closed(schema)).toMatchObject({
    additionalProperties: false,
    properties: {
      inner: { anyOf: [{ additionalProperties: false }, { type: "null" }] },
      list: { items: { additionalProperties: false } },
      free: { additionalProperties: true },
    },
  });
  expect(closed(schema).properties.named).not.toHaveProperty("additionalProperties");
  expect(schema).not.toHaveProperty("additionalProperties");
});

describe("the nearest name", () => {
  const names = ["event_type", "filter_expression", "priority", "enrichment_depth"];
  test.each([
    ["evnt_type", "event_type"],
    ["type", "event_type"],
    ["eventType", "event_type"],
    ["filter", "filter_expression"],
    ["Priority", "priority"],
    ["enrich", "enrichment_depth"],
    ["priroity", "priority"],
  ])("of %s is %s", (given, name) => expect(nearest(given, names)).toEqual({ name, close: true }));

  test("of another word is far", () => {
    expect(nearest("colour", names)).toMatchObject({ close: false });
    expect(compileKeyCheck(Type.Object({ step_key: Type.String() }))({ reason: 1 })).toMatchObject({
      message: "reason is not a known field. Allowed: step_key.",
      data: { expected: "step_key" },
    });
  });

  test("of no names is none", () => expect(nearest("a", [])).toBeUndefined());
});

test("only metadata, payloads and events are free-form", async () => {
  const free = operations.flatMap((op) =>
    freeIn(op.body ? { type: "object", properties: op.body } : {}, op.action),
  );
  const known = [
    ...(await loadKits()).flatMap(({ freeForm = [] }) => freeForm),
    ...["events.publish.event", "handoffs.save.payload", "handoffs.save.payload.decisions[]"],
    ...["handoffs.save.payload.rejected_options[]", "memories.create.metadata"],
    ...["memories.put_by_key.metadata", "memories.update.metadata", "oauth.register.metadata"],
    ...["outputs.save.metadata", "relationships.create.metadata", "schedules.create.event"],
    "schedules.update.event",
  ];
  expect(free.sort()).toEqual(known.sort());
});

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema
function freeIn(part: any, path: string): string[] {
  const { properties = {}, items, anyOf = [], additionalProperties, type } = part;
  const own =
    additionalProperties === true || (type === "object" && !part.properties && !part.patternProperties);
  return [
    ...(own ? [path] : []),
    ...Object.entries(properties).flatMap(([name, each]) => freeIn(each, `${path}.${name}`)),
    ...(items ? freeIn(items, `${path}[]`) : []),
    ...anyOf.flatMap((each: unknown) => freeIn(each, path)),
  ];
}
