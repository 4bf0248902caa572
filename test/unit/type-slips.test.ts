import { expect, test } from "@jest/globals";
import { malformed, neighbourSeen } from "../../lib/filter/names.ts";

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
