import { expect, test } from "@jest/globals";
import {
  conditionsOf,
  metadataIn,
  toAddress,
  withCondition,
  withoutCondition,
} from "../../packages/console/src/pages/memories/metadata.ts";

const built = (...texts: string[]) =>
  texts.reduce<ReturnType<typeof withCondition>>((filter, text) => withCondition(filter ?? {}, text), {});

test.each([
  [["customer = acme"], { customer: "acme" }],
  [["paid = true", "n=7"], { paid: true, n: 7 }],
  [['code = "7"', 'name = "Acme, Inc."'], { code: "7", name: "Acme, Inc." }],
  [["state = open, late", "n = 1, 2"], { state: { in: ["open", "late"] }, n: { in: [1, 2] } }],
  [["amount >= 100", "amount < 500"], { amount: { gte: 100, lt: 500 } }],
  [["due > 2026-01-31", "due <= 2026-02-01T09:00Z"], { due: { gt: "2026-01-31", lte: "2026-02-01T09:00Z" } }],
  [["amount = 5", "amount > 1"], { amount: { gt: 1 } }],
  [["amount > 1", "amount = 5"], { amount: 5 }],
])("%j is %j", (texts, filter) => expect(built(...texts)).toEqual(filter));

test.each(["", "customer", "= acme", "amount > many", "amount >= true", "due > May 1", "a.b = 1", "$a = 1"])(
  "%j is no condition",
  (text) => expect(withCondition({}, text)).toBeNull(),
);

test("what is shown of a condition is the condition, and removing all leaves nothing", () => {
  const filter = built(
    ...["customer = acme", 'code = "7"', 'list = "a, b", c', "amount >= 100", "amount < 500", "paid = false"],
  );
  const shown = conditionsOf(filter ?? {});
  expect(shown.map(({ text }) => text)).toEqual([
    ...["customer = acme", 'code = "7"', 'list = "a, b", c', "amount >= 100", "amount < 500", "paid = false"],
  ]);
  expect(built(...shown.map(({ text }) => text))).toEqual(filter);
  expect(metadataIn(toAddress(filter ?? {}))).toEqual(filter);
  const first = withoutCondition(filter ?? {}, shown[3] as (typeof shown)[number]);
  expect(first).toMatchObject({ amount: { lt: 500 } });
  expect(toAddress(shown.reduce(withoutCondition, filter ?? {}))).toBe("");
});

test("an address without a filter has none", () => {
  for (const text of ["", "{", "[1]", "null", "7"]) expect(metadataIn(text)).toEqual({});
});
