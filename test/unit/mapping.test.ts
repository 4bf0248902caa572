import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { invalidEvent } from "../../lib/cloudevents/cloudevents.ts";
import { parsePointer, resolvePointer } from "../../lib/json/json.ts";
import { mappingError, thrownMappingError } from "../../services/sense/deliveries/dead-letter-state.ts";
import {
  compileMapping,
  type Mapped,
  type MappingSpec,
  type Receipt,
  toTypePart,
} from "../../services/sense/ingest/mapping.ts";

const SPEC: MappingSpec = { source: "shop", entity: "order", action: "/what" };
const RECEIPT: Receipt = {
  ...{ registration_id: "whk_1", default_id: "d-1", ce_source: "/w/acme/shop" },
  now: Date.UTC(2026, 0, 31, 9, 30),
};

const map = (spec: Partial<MappingSpec>, payload: unknown, receipt: Partial<Receipt> = {}): Mapped =>
  compileMapping({ ...SPEC, ...spec })(payload, { ...RECEIPT, ...receipt });

function mapped(...given: Parameters<typeof map>) {
  const result = map(...given);
  if ("error" in result) throw new Error(result.error);
  return result.event;
}

describe("a payload becomes an event", () => {
  test("with a type of four parts, the delivery's id and all of its data", () => {
    const payload = { what: "paid", order: { number: 7 } };
    expect(map({}, payload)).toEqual({
      event: {
        ...{ specversion: "1.0", id: "whk_1:d-1", source: "/w/acme/shop", type: "com.shop.order.paid" },
        ...{ time: "2026-01-31T09:30:00.000Z", datacontenttype: "application/json", data: payload },
      },
    });
  });

  test("with what its pointers lead to", () => {
    const payload = { what: "Paid", "a/b": { "m~n": [{ id: 12 }] }, about: "order 7", body: { total: 5 } };
    expect(mapped({ id: "/a~1b/m~0n/0/id", subject: "/about", data: "/body" }, payload)).toMatchObject({
      ...{ id: "whk_1:12", subject: "order 7", type: "com.shop.order.paid", data: { total: 5 } },
    });
  });

  test("with what its headers say, whatever the case of their names", () => {
    const headers = { "x-github-event": "pull_request" };
    expect(
      mapped({ source: "github", entity: "header:X-GitHub-Event" }, { what: "opened" }, { headers }).type,
    ).toBe("com.github.pull_request.opened");
  });

  test("with data that is null or no object, where the payload says so", () => {
    expect(mapped({ action: "done" }, null).data).toBeNull();
    expect(mapped({ action: "done" }, [1, 2]).data).toEqual([1, 2]);
    expect(mapped({ data: "/body" }, { what: "paid", body: null }).data).toBeNull();
  });

  test.each([[undefined], [null], [""]])("without a subject where that is %p", (about) =>
    expect(mapped({ subject: "/about" }, { what: "paid", about })).not.toHaveProperty("subject"),
  );
});

test.each([
  ["opened", "opened"],
  ["Pull Request", "pull_request"],
  ["invoice.payment_failed", "invoice_payment_failed"],
  ["  Issue / Comment!  ", "issue_comment_"],
  ["two--dashes__kept", "two--dashes__kept"],
  ["GRÖßE", "größe"],
  ["o\u0308", "ö"],
  ["../..", ""],
  ["---", ""],
  ["", ""],
])("%p is folded to %p", (given, folded) => expect(toTypePart(given)).toBe(folded));

test("a folded part has no dot, is folded already, and makes a valid event whatever it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 300 }), (text) => {
      const part = toTypePart(text);
      expect(part).not.toMatch(/[.\s]/);
      expect(toTypePart(part)).toBe(part);
      const result = map({}, { what: text });
      if ("event" in result) expect(result.event.type).toBe(`com.shop.order.${part}`);
      else expect(result.error).toMatch(/^mapping error: /);
      expect("event" in result).toBe(part !== "");
    }),
  );
});

describe("what cannot be mapped", () => {
  test.each<[string, Partial<MappingSpec>, unknown, string]>([
    ["a missing value", {}, {}, "action: /what is missing: expected a string or a number"],
    ["an object", {}, { what: {} }, "action: /what is an object: expected a string or a number"],
    ["a list", {}, { what: [] }, "action: /what is an array: expected a string or a number"],
    ["null", {}, { what: null }, "action: /what is null: expected a string or a number"],
    ["an empty text", {}, { what: "" }, "action: /what is empty: expected a string or a number"],
    ["only signs", {}, { what: "?!" }, 'action: /what is "?!": expected a string with a letter or digit'],
    ["a payload that is no object", {}, "paid", "action: /what is missing: expected a string or a number"],
    ["a missing id", { id: "/id" }, { what: "paid" }, "id: /id is missing: expected a string or a number"],
    [
      "an id that lost digits",
      { id: "/id" },
      { what: "paid", id: 2 ** 53 },
      "id: /id is 9007199254740992, too large to be read exactly: expected a string or a number",
    ],
    ["missing data", { data: "/body" }, { what: "paid" }, "data: /body is missing"],
    [
      "a subject that is an object",
      { subject: "/what" },
      { what: {} },
      "action: /what is an object: expected a string or a number",
    ],
    [
      "a header that was not sent",
      { entity: "header:X-Event" },
      { what: "paid" },
      "entity: header:X-Event is missing: expected a string or a number",
    ],
  ])("%s is named in the reason", (_, spec, payload, reason) =>
    expect(map(spec, payload)).toEqual({ error: `mapping error: ${reason}` }),
  );

  test.each([
    ["id", { id: "/x" }],
    ["subject", { subject: "/x" }],
  ])("an %s that CloudEvents does not allow says so", (field, spec) => {
    expect(map(spec, { what: "paid", x: "line\nbreak" })).toEqual({
      error: expect.stringMatching(`^mapping error: ${field}: expected a non-empty`),
    });
  });

  test("a type that is longer than events' types may be says so", () => {
    const result = map({ action: "/x" }, { what: "paid", x: "a".repeat(255) });
    expect(result).toEqual({ error: expect.stringMatching(/^mapping error: type: .*at most 255/) });
  });

  test("inherited properties and lengths of lists are missing", () => {
    for (const action of ["/constructor/name", "/__proto__", "/list/length", "/list/01", "/list/-"])
      expect(map({ action }, { list: ["a", "b"] })).toHaveProperty("error");
  });
});

test.each<[string, Partial<MappingSpec>]>([
  ["source", { source: "..." }],
  ["mapping.entity", { entity: " " }],
  ["mapping.action", { action: "/a~2" }],
  ["mapping.id", { id: "/~" }],
  ["mapping.subject", { subject: "header:" }],
  ["mapping.data", { data: "header:a b" }],
])("a mapping that could map nothing is refused: %s", (field, spec) =>
  expect(() => compileMapping({ ...SPEC, ...spec })).toThrow(
    expect.objectContaining({ type: "validation_error", data: expect.objectContaining({ field }) }),
  ),
);

describe("JSON Pointers", () => {
  // The examples of RFC 6901, section 5.
  const document = {
    ...{ foo: ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7 },
    "m~n": 8,
  };
  test.each([
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/c%d", 2],
    ["/e^f", 3],
    ["/g|h", 4],
    ["/i\\j", 5],
    ['/k"l', 6],
    ["/ ", 7],
    ["/m~0n", 8],
    ["/foo/2", undefined],
    ["/foo/00", undefined],
    ["/nothing/below", undefined],
  ])("%s leads to %j", (text, value) =>
    expect(resolvePointer(document, parsePointer(text) as string[])).toEqual(value),
  );

  test("that are none", () => {
    for (const text of ["", "foo", "/~", "/~2", "#/foo"]) expect(parsePointer(text)).toBeNull();
  });
});

test("one fault has one reason in every payload, without the payload's value", () => {
  const [first, second] = ["Mon", "Tue"].map((time) => invalidEvent("time", time, "a date and time"));
  expect(first?.message).toBe('time: expected a date and time, got "Mon".');
  expect(thrownMappingError(first)).toBe("mapping error: time: expected a date and time.");
  expect(thrownMappingError(second)).toBe(thrownMappingError(first));
});

test("an error without details gives its message", () => {
  expect(mappingError({ message: "the body is too long" })).toBe("mapping error: the body is too long");
  expect(thrownMappingError(new Error("/id is missing"))).toBe("mapping error: /id is missing");
});
