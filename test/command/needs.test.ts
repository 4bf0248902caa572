import { expect, test } from "@jest/globals";
import { declaredNeeds } from "../support/needs.ts";

// Put together here, so that this file does not seem to declare them.
const needs = (list: string) => `/** @${"needs"} ${list} */`;

test("a test file declares its needs in a comment", () => {
  expect(declaredNeeds(needs("mongodb, nats: both at once"))).toEqual(["mongodb", "nats"]);
  expect(declaredNeeds("no comment")).toEqual([]);
});

test("an unknown need is an error that names those there are", () => {
  expect(() => declaredNeeds(needs("oracle"))).toThrow(/oracle: unknown, allowed are mongodb, nats/);
});
