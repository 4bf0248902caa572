import { describe, expect, test } from "@jest/globals";
import { Type as TypeBox } from "typebox";
import { Type } from "../../lib/contract/type.ts";

const text = TypeBox.String();
const person = { name: text, age: Type.Optional(TypeBox.Integer()) };
const personOfTypeBox = { name: text, age: TypeBox.Optional(TypeBox.Integer()) };
const more = { description: "Of a thing.", examples: [1] };

const json = (schema: unknown) => JSON.parse(JSON.stringify(schema));

describe("a schema is what TypeBox makes of it", () => {
  test.each([
    ["array", Type.Array(text, more), TypeBox.Array(text, more)],
    ["boolean", Type.Boolean(more), TypeBox.Boolean(more)],
    ["integer", Type.Integer(more), TypeBox.Integer(more)],
    ["literal", Type.Literal("a", more), TypeBox.Literal("a", more)],
    ["literal number", Type.Literal(1), TypeBox.Literal(1)],
    ["null", Type.Null(more), TypeBox.Null(more)],
    ["number", Type.Number(more), TypeBox.Number(more)],
    ["object", Type.Object(person, more), TypeBox.Object(personOfTypeBox, more)],
    ["empty object", Type.Object({}), TypeBox.Object({})],
    ["optional", Type.Optional(text), TypeBox.Optional(text)],
    ["partial", Type.Partial(Type.Object(person)), TypeBox.Partial(TypeBox.Object(personOfTypeBox))],
    ["record", Type.Record(text, text, more), TypeBox.Record(text, text, more)],
    ["string", Type.String(more), TypeBox.String(more)],
    ["union", Type.Union([text], more), TypeBox.Union([text], more)],
    ["unknown", Type.Unknown(more), TypeBox.Unknown(more)],
    ["unsafe", Type.Unsafe({ type: "string" }), TypeBox.Unsafe({ type: "string" })],
  ] as [string, object, object][])("%s", (_, ours, theirs) => {
    expect(json(ours)).toEqual(json(theirs));
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
  });
});
