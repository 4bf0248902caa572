import { getConformanceSuite, type IncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { expect, test } from "@jest/globals";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";
import { DEVIATIONS } from "./filter-conformance.deviations.ts";

// The official CEL conformance suite, as far as a filter can be asked: without protobuf messages and extensions,
// and with a bool or an error as the result (of another result, whether it equals what is expected).

const OTHER_FEATURES =
  /proto|enums|wrappers|unknowns|type_deduction|optionals|_ext|network|block|encoders|bindings|dynamic|macros2|quoted_map_fields/;
const NEEDS_PROTOBUF = /TestAllTypes|google\.protobuf\.|optional|\.\?/;

type Case = [name: string, expression: string, expected: "match" | "no_match" | "error"];

function cases(suite: IncrementalTestSuite, path = ""): Case[] {
  const here = `${path}/${suite.name}`;
  return [
    ...suite.tests.flatMap(({ original }) => caseOf(`${here}/${original.name}`, original)),
    ...suite.suites.flatMap((inner) => cases(inner, here)),
  ];
}

type Original = IncrementalTestSuite["tests"][number]["original"];

function caseOf(name: string, { expr, checkOnly, container, bindings, resultMatcher }: Original): Case[] {
  const outside = checkOnly || container !== "" || Object.keys(bindings).length > 0 || expr.length > 900;
  if (outside || OTHER_FEATURES.test(name) || NEEDS_PROTOBUF.test(expr)) return [];
  if (resultMatcher.case === "evalError") return [[name, `(${expr}) == null`, "error"]];
  if (resultMatcher.case !== "value") return [];
  const { kind } = resultMatcher.value;
  if (kind.case === "boolValue") return [[name, expr, kind.value ? "match" : "no_match"]];
  if (kind.case === "stringValue") return [[name, `(${expr}) == ${JSON.stringify(kind.value)}`, "match"]];
  if (kind.case === "int64Value" && kind.value >= 0n) return [[name, `(${expr}) == ${kind.value}`, "match"]];
  return [];
}

function outcome(expression: string): string {
  try {
    return compileFilter(expression).matches(new EventScope({ type: "t", data: {} }));
  } catch {
    return "error";
  }
}

const all = cases(getConformanceSuite());

test("every official case but the listed ones holds", () => {
  expect(all.length).toBeGreaterThan(600);
  const failed = all
    .filter(([, expression, expected]) => outcome(expression) !== expected)
    .map(([name]) => name.replace("/conformance/", ""));
  expect(failed.toSorted()).toEqual(Object.values(DEVIATIONS).flat().toSorted());
});
