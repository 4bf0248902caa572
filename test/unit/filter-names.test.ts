import { describe, expect, test } from "@jest/globals";
import type { CloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import { checkFilter } from "../../lib/contract/subscription.ts";
import { listReads, malformed, neighbourSeen } from "../../lib/filter/names.ts";
import { filterHints } from "../../services/sense/interests/filter-hints.ts";

function refusal(filter: string): { message: string; position: number } | null {
  try {
    checkFilter("f", filter);
    return null;
  } catch (err) {
    const { message, data } = err as Error & { data: { position: number } };
    return { message, position: data.position };
  }
}

describe("a filter that reads what no event can have is refused", () => {
  test.each([
    ["data.n > 1 && event.event_type == 'a'", "`event.event_type`", "`event.type`", 14],
    ["event.Subject == 'a'", "`event.Subject`", "`event.subject`", 0],
    ["event['data-schema'] == 'a'", "`event.data-schema`", "`event.dataschema`", 0],
    ["event.customerName == 'a'", "`event.customerName`", "`data.customerName`", 0],
    ["has(event.order_total)", "`event.order_total`", "`data.order_total`", 4],
    ["event.subject.name == 'a'", "`event.subject.name`", "`data.name`", 0],
    ["data.lines.exists(l, l.sku == event.SKU)", "`event.SKU`", "`data.SKU`", 30],
  ])("%s", (filter, given, meant, position) => {
    const refused = refusal(filter);
    expect(refused?.message).toContain(`f: ${given} is not a variable`);
    expect(refused?.message).toContain(`Did you mean ${meant}?`);
    expect(refused?.position).toBe(position);
  });

  test("a name of CEL is not the event's", () => {
    expect(refusal("type == 'com.example.a'")?.message).toBe(
      "f: no such overload: type == string: `type` is a type of CEL. Did you mean `event.type` or `data.type`? (at position 0).",
    );
    expect(refusal("map == 1")?.message).toContain("Did you mean `data.map`?");
    expect(refusal("data.a == 1 &&")?.message).not.toContain("Did you mean");
    expect(refusal("type(data.a)")?.message).not.toContain("Did you mean");
  });
});

test.each([
  ["data.total > 100 and data.vip", "`&&` for and", 17],
  ["data.vip OR data.eu", "`||` for or", 9],
  ["not data.vip", "`!` for not", 4],
  ["data.a & data.b", "`&&` for and", 7],
  ["data.a | data.b", "`||` for or", 7],
  ["data.status = 'paid'", "`==` and `!=` compare", 12],
  ["data.status === 'paid'", "`==` and `!=` compare", 14],
  ["data.status <> 'paid'", "`!=` for not equal", 13],
  ["data.status is 'paid'", "`==` for is", 12],
  ["data.status like 'p%'", "text.contains('part')", 12],
  ["data.tags contains 'vip'", "'item' in list", 10],
  ["data.status =~ 'p.*'", "text.matches('regex')", 12],
  ["$.total > 100", "as in `data.total`", 0],
  ["data.lines[*].n > 1", "list.exists(x, …)", 11],
  ["data.status in ('a', 'b')", "`['a', 'b']`", 19],
  ["len(data.tags) > 1", "Did you mean `size(x)`?", 0],
  ["data.status.lower() == 'a'", "Did you mean `lowerAscii()`?", 0],
  ["data.status.startswith('a')", "Did you mean `startsWith`?", 0],
  ["data.note == None", "`null` for `None`", 13],
  ["data.vip == True", "`true` for `True`", 12],
])("a filter in another language is refused with what CEL writes: %s", (filter, hint, position) =>
  expect(refusal(filter)).toEqual({ message: expect.stringContaining(hint), position }),
);

test.each([
  "total > 100",
  "data.None == 1 && and1 == 2 && data.x.contains('a or b')",
  "subjct == 'a' && event.subjct == 'a'",
  "event.type == 'a' && event.source == '/a' && event.specversion == '1.0'",
  "event.traceparent != '' && event.partition2 == 7 && event.data.Any_Key == 1 && event.data_base64 == 'a'",
  "has(event.tenant) ? event.tenant == 'a' : true",
  "event.subject.startsWith('a') && size(event.id) > 2",
  "lines.all(event, event.Unit_Price > 1)",
  "cel.bind(event, data, event.Unit_Price > 1)",
  "data.type == 'a' && data['Any key'] == 1 && data.event.Some_Key == 1",
  "event.data.order.Total > 1 && event[data.key] == 1",
])("accepted: %s", (filter) => expect(refusal(filter)).toBeNull());

test("the names that a filter reads do not include variables of its macros", () => {
  const read = (filter: string) =>
    listReads(filter).map(({ of, name, optional }) => `${of} ${name}${optional ? "?" : ""}`);
  expect(read("lines.all(l, l.sku == kind) && cel.bind(x, data.a.b, x > event.data.c) && has(d.e)")).toEqual([
    ...["key lines", "key kind", "data a", "data c", "key d?"],
  ]);
});

describe("hints of a dry run", () => {
  const event = (data: unknown, more: object = {}) =>
    ({ specversion: "1.0", id: "1", source: "/s", type: "com.example.a", data, ...more }) as CloudEvent;
  const events = [
    event({ order: { total: 7, lines: [] }, customer: "c", "not a name": { deep: 1 } }, { subject: "s" }),
    event({ order: { total: 8 } }, { region: "eu" }),
  ];
  const none = (text: string, meant?: string) =>
    `None of the 2 events of this type has \`${text}\`.${meant ? ` Did you mean \`${meant}\`?` : ""}`;

  test.each([
    ["total > 1", [none("total", "data.order.total")]],
    ["data.total > 1", [none("data.total", "data.order.total")]],
    ["subject == 's'", [none("subject", "event.subject")]],
    ["data.subject == 's'", [none("data.subject", "event.subject")]],
    ["event.subjct == 's'", [none("event.subjct", "event.subject")]],
    ["subjct == 's'", [none("subjct", "event.subject")]],
    ["custmer == 'c'", [none("custmer", "data.customer")]],
    ["event.customer == 'c'", [none("event.customer", "data.customer")]],
    ["deep == 1", [none("deep")]],
    ["foo.customer == 'c'", [none("foo", "data.customer")]],
    ["foo['subject'] == 's'", [none("foo", "event.subject")]],
    ["foo.bar == 1", [none("foo")]],
    ["xyzzy == 1 && data.plugh == 2", [none("xyzzy"), none("data.plugh")]],
    ["order.total > 1 && customer == 'c' && event.region == 'eu' && data.order.absent == 1", []],
    ["has(data.discount) && data.discount > 1", []],
    ["type(order.total) == double || type(order) == map", []],
    ["data == {} || event.type == 'a'", []],
  ])("%s", (filter, hints) => expect(filterHints(filter, events).map(({ text }) => text)).toEqual(hints));

  test("need an event of the type", () => {
    expect(filterHints("total > 1", [])).toEqual([]);
    const [hint] = filterHints("total > 1", [event(7)]);
    expect(hint?.text).toBe("The only event of this type has no `total`.");
  });
});

test.each([
  ["com..order", "com.order"],
  [".com.order.", "com.order"],
  ["com.order..*", "com.order.*"],
])("an empty part is noticed: %s", (type, meant) =>
  expect(malformed(type)).toBe(
    `The type \`${type}\` has an empty part between dots. Did you mean \`${meant}\`?`,
  ),
);

test.each([
  ["com.order placed", "com.order.placed"],
  [" com.order. placed", "com.order.placed"],
  ["com.order. *", "com.order.*"],
])("spaces are noticed: %j", (type, meant) =>
  expect(malformed(type)).toBe(`The type \`${type}\` has spaces. Did you mean \`${meant}\`?`),
);

const SEEN = ["com.shop.order.placed", "com.shop.v1.paid", "org.example.*"];

test.each([
  ["com.shop.order.place", "com.shop.order.placed"],
  ["com.shop.order.plcaed", "com.shop.order.placed"],
  ["com.shop.ordre.*", "com.shop.order.*"],
  ["com.shop.orders.*", "com.shop.order.*"],
  ["com.shap.*.placed", "com.shop.*.placed"],
])("a neighbour that was seen is suggested: %s", (glob, meant) =>
  expect(neighbourSeen(glob, SEEN)).toBe(
    `None of the last events has a type that \`${glob}\` matches. Did you mean \`${meant}\`?`,
  ),
);

test.each([
  ...["com.shop.order.*", "com.shop.order.placed", "com.shop.v2.paid", "com.sho.order.placed.late"],
  ...["net.shop.order.placed", "com.shop.order.paid", "*"],
])("no slip: %s", (glob) => expect([malformed(glob), neighbourSeen(glob, SEEN)]).toEqual([null, null]));
