import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { functionNames } from "../../lib/filter/cel.ts";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/guides/filters.md"), "utf8");
const event = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] as string);

/** The rows of the tables: what a row is about, and its example. */
const rows = [...page.matchAll(/^\| (.*) \| `([^`]+)` \|$/gm)].map(
  ([, what, example]) =>
    [(what as string).replaceAll("\\|", "|"), (example as string).replaceAll("\\|", "|")] as const,
);

/** Functions that cel-js declares for optionals, which filters cannot use. */
const OUT_OF_REACH = ["hasValue", "none", "of", "or", "orValue", "value"];

test.each(rows)("%s: %s", (_, example) =>
  expect(compileFilter(example).explain(new EventScope(event))).toEqual({ outcome: "match" }),
);

test("has every function there is, and no other, each in an example", () => {
  const section = page.slice(page.indexOf("## Functions"), page.indexOf("## Where"));
  const functions = rows.filter(([what]) => section.includes(what));
  const named = functions.flatMap(([what]) =>
    [...what.matchAll(/`(\w+)`/g)].map(([, name]) => name as string),
  );
  const available = functionNames().filter((name) => !OUT_OF_REACH.includes(name) && name !== "string");
  expect(named.filter((name) => name !== "string").toSorted()).toEqual(available.toSorted());
  const examples = functions.map(([, example]) => example).join(" ");
  expect(named.filter((name) => !examples.includes(`${name}(`))).toEqual([]);
});

test("says rightly that optionals are out of reach", () => {
  for (const expression of ["optional.of(1).hasValue()", "optional.none().hasValue()"])
    expect(compileFilter(expression).matches(new EventScope(event))).toBe("error");
});
