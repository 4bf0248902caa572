import { expect, test } from "@jest/globals";
import { causeOf, spentReason } from "../../services/sense/deliveries/dead-letter-state.ts";

const python = (id: number) => `Traceback (most recent call last):
  File "/srv/bot.py", line ${id}, in handle
    charge(order)
    ^^^^^^^^^^^^^
ValueError: order ${id} has no customer
`;

test.each([
  ["order 1842 has no customer", "order 7 has no customer"],
  ["timeout after 250ms at 2026-05-01T10:00:00.123Z", "timeout after 9ms at 2025-12-31T00:00:00+01:00"],
  ["invoice-17 is locked by ag_4fXq1mCz8Jw0bT7kLr2N", "invoice-18 is locked by ag_0aBc1mCz8Jw0bT7kLr2X"],
  ["no row 2f1c6f0e-8d5a-4b6e-9f0a-0123456789ab", "no row 00000000-8d5a-4b6e-9f0a-aaaaaaaaaaaa"],
  ["ECONNREFUSED 127.0.0.1:3000", "ECONNREFUSED 10.1.2.3:80"],
  [python(12), python(99)],
  [python(12), "ValueError: order 5 has no customer"],
  ["TypeError: x is no function\n    at run (a.js:1:2)", "TypeError: x is no function\n    at b (b.js:9:9)"],
  [spentReason(5, "lease expired"), spentReason(3, "lease expired")],
])("%j has the same cause as %j", (one, other) => {
  expect(causeOf(one)).toBe(causeOf(other));
  expect(causeOf(one)).not.toMatch(/^…?$/);
});

test.each([
  ["the endpoint responded with 503", "the endpoint responded with 404"],
  ["HTTP 500", "HTTP 400"],
  ["the till is shut", "the till is full"],
  ["sha256 is missing", "sha512 is missing"],
])("%j has another cause than %j", (one, other) => expect(causeOf(one)).not.toBe(causeOf(other)));

test.each(["the endpoint responded with 503", "HTTP 500", "sha256 is missing", "the till is shut"])(
  "%j is its own cause",
  (reason) => expect(causeOf(reason)).toBe(reason),
);

test("a cause is short and stays what it is", () => {
  expect(causeOf(spentReason(5, python(3)))).toBe("ValueError: order … has no customer");
  expect(causeOf(causeOf(python(3)))).toBe(causeOf(python(3)));
  expect(causeOf("Traceback (most recent call last):")).toBe("Traceback (most recent call last):");
});
