import { describe, expect, test } from "@jest/globals";
import { compileFilter, EventScope, FilterError, parseEnvelope } from "../../lib/filter/filter.ts";

const event = {
  ...{ type: "com.shop.order.paid", source: "/shop", subject: "order/7", time: "2026-03-01T10:00:00Z" },
  data: {
    ...{ amount: 100.5, count: 100, status: "paid", note: null, tags: ["vip", "eu"] },
    lines: [
      { sku: "a1", quantity: 2 },
      { sku: "b2", quantity: 1 },
    ],
    ...{ customer: { country: "DE", "sign-up": 2020 }, type: "a key that CEL has its own name for" },
    ...{ data: "a key that must not hide the data", event: "a key that must not hide the event" },
  },
};

const outcome = (expression: string, of: object = event) =>
  compileFilter(expression).matches(new EventScope(of as typeof event));

test.each([
  ...["data.amount > 100", "data.count >= 100 && data.count == 100 && data.count <= 100.0"],
  ...["data.count in [99, 100]", "amount > 100 && status == 'paid'"],
  "event.type == 'com.shop.order.paid' && event.data.status == status",
  "event.subject.startsWith('order/') && event.source.endsWith('shop') && status.contains('ai')",
  "size(tags) == 2 && tags.size() == 2 && size(status) == 4 && size(customer) == 2",
  "'vip' in tags && 'country' in customer && !('zip' in customer)",
  "has(customer.country) && !has(data.customer.zip)",
  "customer['sign-up'] == 2020 && lines[1].sku == 'b2'",
  "lines.exists(l, l.sku == 'b2') && lines.all(l, l.quantity > 0) && lines.exists_one(l, l.quantity == 2)",
  ...["lines.filter(l, l.quantity > 1).map(l, l.sku) == ['a1']", "customer.exists(key, key == 'country')"],
  "data.note == null",
  "amount + 1.0 > 101.0 && amount + 1 > 101 && 1 + amount > 101 && 200 - count == 100 && count - 1 == 99",
  "count * 2 == 200 && count / 8 == 12.5 && 50 / count == 0.5 && count % 3 == 1 && 7 % 2 == 1",
  "lines[0].quantity % lines[1].quantity == 0 && 7 / 2 == 3",
  ...["amount > 100 ? status == 'paid' : false", "data.missing == 1 || status == 'paid'"],
  "timestamp(event.time) < timestamp('2026-04-01T00:00:00Z')",
  "status.matches('^p[a-z]+d$') && matches(status, 'ai')",
  "data.data.startsWith('a key') && data.event.startsWith('a key') && data.type.startsWith('a key')",
  "data.status == 'paid' && event.type != data.type",
])("matches: %s", (expression) => expect(outcome(expression)).toBe("match"));

describe("data as filters see it", () => {
  const seen = (event: object, filter: string) =>
    compileFilter(filter).explain(new EventScope(event as { type: string })).outcome;
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  test("JSON in base64 is data, by its media type", () => {
    const event = { type: "t", data_base64: base64('{"total": 150, "id": 9007199254740993}') };
    for (const datacontenttype of ["application/json", "Application/Vnd.X+JSON; charset=utf-8"]) {
      expect(seen({ ...event, datacontenttype }, "data.total > 100 && event.data.total == 150")).toBe(
        "match",
      );
      expect(seen({ ...event, datacontenttype }, "id == 9007199254740993")).toBe("match");
    }
    expect(seen({ ...event, datacontenttype: "image/png" }, "data.total > 100")).toBe("error");
    expect(seen({ ...event, datacontenttype: "application/json", data_base64: "AAAA" }, "data.a == 1")).toBe(
      "error",
    );
  });

  test("integers have all digits", () => {
    const text =
      '{"type":"t","data":{"id":9007199254740993,"huge":123456789012345678901234,"list":[-9007199254740995]}}';
    const event = parseEnvelope(text);
    expect(seen(event, "data.id == 9007199254740993")).toBe("match");
    expect(seen(event, "data.id == 9007199254740992")).toBe("no_match");
    expect(seen(event, "data.id > 9007199254740992 && data.list[0] < -9007199254740994")).toBe("match");
    expect(seen(event, "data.huge > 1")).toBe("match");
    expect(JSON.stringify(event)).toBe(text);
  });
});

test.each([
  ...["data.amount > 101", "status == 'open'", "data.missing == 1 && status == 'open'", "tags == ['vip']"],
])("does not match: %s", (expression) => expect(outcome(expression)).toBe("no_match"));

describe("cannot be evaluated", () => {
  test.each([
    ["data.missing == 1", "no such key: missing"],
    ["missing == 1", "unknown name: missing"],
    ["toString == 1", "unknown name: toString"],
    ["data.constructor == 1", "no such key: constructor"],
    ["data.status > 1", "no such overload: dyn<string> > int"],
    ["data.status + 1 > 2", "no such overload: dyn<string> + int"],
    ["data.status", "must return a bool, this one returned a string"],
    ["data.customer", "must return a bool, this one returned a object"],
    ["data.lines[9].sku == 'x'", "index out of bounds"],
    ["1 / 0 == 1", "division by zero"],
    ["data.count.matches('1')", "matches() expects a string, got number"],
    ["!data.customer", "cannot be a condition"],
  ])("%s: %s", (expression, reason) => {
    const explained = compileFilter(expression).explain(new EventScope(event));
    expect(explained.outcome).toBe("error");
    expect(explained.error).toContain(reason);
    expect(outcome(expression)).toBe("error");
  });

  test("data that is absent, a text or a list", () => {
    expect(outcome("data == 'x'", { type: "t" })).toBe("error");
    expect(outcome("data == 'x'", { type: "t", data: "x" })).toBe("match");
    expect(outcome("length == 1", { type: "t", data: ["x"] })).toBe("error");
    expect(outcome("event.type == 't'", { type: "t" })).toBe("match");
  });
});

describe("is refused", () => {
  test.each([
    ["data.a ==", 9, "Unexpected token: EOF"],
    ["data.a == 1 &&& data.b", 14, "Unexpected"],
    ["data.a == 'x", 10, "Unterminated string"],
    ["data.a == 1 && nope(data.b)", 15, "found no matching overload for 'nope(dyn)'"],
    ["data.a > 1 && ('x' + 1 == 'x1')", 15, "no such overload: string + int"],
    ["data.items.all(1, true)", 15, "iteration variable"],
    ["1 + 1", 0, "must return a bool, this one returns int"],
    ["data.a.matches('(')", 15, "missing closing )"],
    ["data.a.matches(data.b)", 15, "must be a string literal"],
    ["data.a.matches('a{1000}b{1000}')", 15, "instructions"],
    ["__proto__ == 1", 0, "Reserved"],
    ["(".repeat(200), 100, "maxDepth"],
    ["", 0, "Unexpected token: EOF"],
    [`data.a == '${"x".repeat(1000)}'`, 1000, "at most 1000 characters, this one has 1012"],
  ])("%s at %d: %s", (expression, position, message) => {
    const refusal = refusalOf(expression);
    expect(refusal.message).toContain(message);
    expect(refusal.position).toBe(position);
  });

  function refusalOf(expression: string): FilterError {
    try {
      compileFilter(expression);
    } catch (error) {
      if (error instanceof FilterError) return error;
      throw error;
    }
    throw new Error(`${expression} was accepted`);
  }
});

test("filters of the same shape with other literals are judged one by one", () => {
  expect(outcome("data.status == 'paid' // 1")).toBe("match");
  expect(() => compileFilter("data.status == 'paid' + 1")).toThrow("no such overload");
  expect(outcome("data.status == 'pa' + 'id'")).toBe("match");
  expect(() => compileFilter("data.status == 'paid' + 1")).toThrow("no such overload");
});

test("filters that differ in their literals only keep them apart", () => {
  const filters = ["paid", "open", "paid"].map((status) =>
    compileFilter(`data.status == "${status}" && data.count < 200`),
  );
  const limits = [1, 1000].map((limit) => compileFilter(`data.status == "paid" && data.count < ${limit}`));
  const scope = new EventScope(event);
  expect(filters.map((filter) => filter.matches(scope))).toEqual(["match", "no_match", "match"]);
  expect(limits.map((filter) => filter.matches(scope))).toEqual(["no_match", "match"]);
  expect(compileFilter("tags == ['vip', 'eu']").matches(scope)).toBe("match");
  expect(compileFilter("tags == ['eu', 'vip']").matches(scope)).toBe("no_match");
  expect(compileFilter("data.count == 100.0").matches(scope)).toBe("match");
  expect(compileFilter("data.status.matches('^p')").matches(scope)).toBe("match");
  expect(compileFilter("data.status.matches('^o')").matches(scope)).toBe("no_match");
});
