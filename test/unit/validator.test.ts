import { describe, expect, test } from "@jest/globals";
import { Type } from "typebox";
import { nullable, oneOf } from "../../lib/contract/contract.ts";
import { Id, SECRET, Timestamp, Uuid } from "../../lib/contract/schema.ts";
import { compileCheck, compileQueryCheck } from "../../lib/contract/validator.ts";
import { operations } from "../../services/contracts.ts";

const schema = Type.Object({
  name: Type.String({ minLength: 1, examples: ["lamp"] }),
  size: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 9 }))),
  mode: Type.Optional(oneOf(["poll", "push"])),
  kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
  owner: Type.Optional(nullable(Type.Object({ agent_id: Id("ag") }))),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2, uniqueItems: true })),
  ...{ at: Type.Optional(Timestamp), to: Type.Optional(Type.String({ format: "email" })) },
  ...{ memory: Type.Optional(Uuid("memory")), team_id: Type.Optional(nullable(Id("team"))) },
  ids: Type.Optional(Type.Array(Id("dlv"))),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, default: 5 })),
});

const check = compileCheck(schema);

const SECRETIVE = /password|api_key|secret|token/;
const isText = (schema: object) => (schema as { type?: string }).type === "string";

test.each([
  { name: "a" },
  { name: "a", unknown: 1 },
  { name: "a", size: null, owner: null, team_id: null, tags: [] },
  {
    ...{ name: "a", at: "2026-01-31T09:30:00Z", memory: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f" },
    team_id: "team_1",
  },
])("a value that fits: %j is no fault", (value) => expect(check(value)).toBeNull());

test.each([
  [Id("dlv"), "evt_1", 'expected an id that begins with dlv_, got "evt_1".'],
  [Type.String({ pattern: "\\S" }), " ", 'expected text that is not blank, got " ".'],
  [Type.String({ pattern: "^a+$", "x-expected": "some a" }), "b", 'expected some a, got "b".'],
  [Type.String({ pattern: "^a+$" }), "b", 'expected a string that matches ^a+$, got "b".'],
])("a pattern is told in words, if there are any: %#", (of, value, message) =>
  expect(compileCheck(Type.Object({ it: of }))({ it: value })?.message).toBe(`it: ${message}`),
);

describe("a label", () => {
  const named = compileCheck(
    Type.Object({
      name: Type.String(),
      content: Type.Optional(Type.String()),
      steps: Type.Optional(Type.Array(Type.Object({ specialist_name: nullable(Type.String()) }))),
      pointer: Type.Optional(nullable(Type.Object({ title: Type.String() }))),
    }),
  );
  test.each(["Ana\u0301 – אבג \u200f😀\u200d", "C\\u001b"])("may be %j", (name) =>
    expect(named({ name, content: "\u001b]52;c;aGk=\u0007\n" })).toBeNull(),
  );
  test.each(["\u001b]52;c;aGk=\u0007", "two\nlines", "\u009b31m", "\u007f", "a\u202etxt.exe", "\u2066"])(
    "is not %j",
    (bad) => {
      const message = "expected one line without control characters and direction overrides, got ";
      expect(named({ name: bad })).toMatchObject({ type: "validation_failed", data: { field: "name" } });
      expect(named({ name: bad })?.message).toContain(`name: ${message}`);
      const nested = { name: "a", steps: [{ specialist_name: bad }] };
      expect(named(nested)).toMatchObject({ data: { field: "steps.0.specialist_name" } });
      expect(named({ name: "a", pointer: { title: bad } })).toMatchObject({
        data: { field: "pointer.title" },
      });
    },
  );
});

test("a UUID is taken in any case, and is in lower case from then on; other ids are as they are", () => {
  const id = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";
  const given = { name: id.toUpperCase(), memory: id.toUpperCase(), team_id: "team_ABC" };
  expect(check(given)).toBeNull();
  expect(given).toEqual({ name: id.toUpperCase(), memory: id, team_id: "team_ABC" });
  const ids = { ids: [id.toUpperCase()] };
  expect(compileCheck(Type.Object({ ids: Type.Array(Uuid("memory")) }))(ids)).toBeNull();
  expect(ids.ids).toEqual([id]);
});

describe("a value that does not fit is a fault with its field and what was expected", () => {
  test.each<[unknown, object]>([
    [{}, { field: "name", value: null, expected: "a value (it is required)", example: "lamp" }],
    [{ name: 7 }, { field: "name", value: 7, expected: "string", example: "lamp" }],
    [{ name: "" }, { field: "name", value: "", expected: "at least 1 character" }],
    // They may be written so, but no Date can hold them.
    [{ name: "a", at: "2016-12-31T23:59:60Z" }, { field: "at" }],
    [{ name: "a", at: "2026-01-31T09:30:00+01" }, { field: "at" }],
    // In UTC they are of no year that a timestamp can have.
    [{ name: "a", at: "9999-12-31T23:59:59-01:00" }, { field: "at" }],
    [{ name: "a", at: "0000-01-01T00:00:00+01:00" }, { field: "at" }],
    [[], { field: "", expected: "object" }],
  ])("%j", (value, details) =>
    expect(check(value)).toMatchObject({ type: "validation_failed", data: details }),
  );

  test.each<[keyof typeof schema.properties, unknown, object]>([
    ["size", "x", { example: 1 }],
    ["size", "1", { value: "1", expected: "integer or null" }],
    ["size", 10, { value: 10, expected: "1 to 9" }],
    ["size", 0, { value: 0, expected: "1 to 9" }],
    ["mode", "x", { value: "x", expected: "one of poll, push", example: "poll" }],
    ["kind", "c", { value: "c", expected: "a or b" }],
    ["ids", 7, { example: ["dlv_4fXq1mCz8Jw0bT7kLr2N"] }],
    ["limit", 0, { expected: "1 to 9", example: 5 }],
    ["tags", "x", { expected: "array", example: null }],
    ["tags", ["s", "s"], { expected: "each item once" }],
    ["tags", ["s", "t", "u"], { expected: "at most 2 items" }],
    ["tags", ["t", 2], { field: "tags.1", value: 2, expected: "string" }],
    ["at", "today", { value: "today", expected: "a date and time (RFC 3339)" }],
    ["to", "me", { expected: "an e-mail address" }],
    ["owner", {}, { field: "owner.agent_id", value: null }],
    ["owner", 3, { value: 3, expected: "object or null" }],
  ])("%s: %j", (field, value, details) =>
    expect(check({ name: "a", [field]: value })).toMatchObject({
      ...{ type: "validation_failed", data: { field, ...details } },
    }),
  );

  test.each<[string, unknown, object]>([
    ["owner", { agent_id: "x" }, { field: "owner.agent_id", value: "x" }],
    ["team_id", "ag_1", { field: "team_id", value: "ag_1" }],
    ["memory", "1", { field: "memory", value: "1", expected: "a uuid" }],
  ])("%s: %j is of an id that is malformed", (field, value, details) =>
    expect(check({ name: "a", [field]: value })).toMatchObject({ type: "validation_error", data: details }),
  );

  test.each([
    [{}, "name is required."],
    [{ name: 7 }, "name: expected string, got 7."],
    [{ name: "a", limit: 500 }, "limit: expected 1 to 9, got 500."],
    [{ name: "a", mode: "poll\n" }, 'mode: expected one of poll, push, got "poll\\n".'],
    [{ name: "a", tags: ["a", "b", "c"] }, "tags: expected at most 2 items, got 3."],
    [{ name: "a", tags: {} }, "tags: expected array, got an object."],
    [{ name: "a", size: [1] }, "size: expected integer or null, got an array."],
    [{ name: "a", to: "x".repeat(999) }, `to: expected an e-mail address, got "${"x".repeat(100)}…".`],
    [null, "The request: expected object, got null."],
  ])("and its message says so: %j", (value, message) => expect(check(value)?.message).toBe(message));

  test("a secret is not in the message, and a length is in code points", () => {
    const strict = compileCheck(Type.Object({ password: Type.String({ minLength: 3, ...SECRET }) }));
    expect(strict({ password: "ab" })?.message).toBe("password: expected at least 3 characters.");
    expect(strict({ password: 1234 })?.message).toBe("password: expected string.");
    const short = compileCheck(Type.Object({ name: Type.String({ maxLength: 1 }) }));
    expect(short({ name: "\u{1F600}\u{1F600}" })?.message).toBe("name: expected at most 1 character, got 2.");
  });

  test("an unknown key, where the contract is strict", () => {
    const strict = compileCheck(
      Type.Object(
        { a: Type.Optional(Type.String()), c: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    );
    const strictly = { field: "b", value: 1, expected: "no key but a, c" };
    expect(strict({ b: 1, c: "c" })?.data).toMatchObject(strictly);
  });

  test("one of forms within forms", () => {
    const lines = compileCheck(nullable(Type.Union([Type.String(), Type.Array(Type.String())])));
    expect(lines(5)?.data).toMatchObject({ value: 5, expected: "string or array or null" });
  });

  test("a key with a slash or a tilde is named as it is", () => {
    const keyed = compileCheck(Type.Object({ "a/b~c": Type.String() }));
    expect(keyed({ "a/b~c": 1 })?.data).toMatchObject({ field: "a/b~c" });
  });

  test("every field of a contract that takes a secret says so", () => {
    const fields = operations.flatMap(({ action, body = {} }) =>
      Object.entries(body).map(([name, schema]) => ({ field: `${action} ${name}`, name, schema })),
    );
    const secrets = fields.filter(({ name, schema }) => SECRETIVE.test(name) && isText(schema));
    expect(secrets.length).toBeGreaterThanOrEqual(5);
    expect(secrets.filter(({ schema }) => !(schema as { writeOnly?: boolean }).writeOnly)).toEqual([]);
  });

  test("what was given is cut short", () => {
    const value = check({ name: "a", mode: "y".repeat(10_000) })?.data as { value: string };
    expect(value.value.length).toBeLessThan(300);
  });
});

describe("a query", () => {
  const query = compileQueryCheck(
    Type.Object({
      limit: Type.Optional(Type.Integer({ maximum: 200 })),
      dry_run: Type.Optional(Type.Boolean()),
      tags: Type.Optional(Type.Array(Type.String())),
    }),
  );

  test("carries text only: it becomes what is asked for", () => {
    const values = { limit: "10", dry_run: "true", tags: "one" };
    expect(query(values)).toBeNull();
    expect(values).toEqual({ limit: 10, dry_run: true, tags: ["one"] });
  });

  test.each([
    [{ limit: "ten" }, "limit"],
    [{ limit: "1.5" }, "limit"],
    [{ limit: "" }, "limit"],
    [{ limit: "201" }, "limit"],
    [{ limit: ["1", "2"] }, "limit"],
    [{ dry_run: "yes" }, "dry_run"],
  ])("that does not fit is a fault: %j", (values, field) =>
    expect(query(values)).toMatchObject({ type: "validation_failed", data: { field } }),
  );
});
