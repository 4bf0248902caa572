import { expect, test } from "@jest/globals";
import { bindName } from "../../lib/filter/bind.ts";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";

const run = {
  id: "r1",
  project: null,
  values: { text: 'a"\\\n\u0001ü', below: -2, half: 1.5, yes: true, "a b": "c" },
};
const bind = (expression: string) => bindName(expression, "run", run);
const matches = (expression: string, data: object) =>
  compileFilter(bind(expression)).matches(new EventScope({ type: "t", data }));

test("what a filter reads of the name becomes a literal", () => {
  expect(bind("data.x == run.id && run.values.yes")).toBe('data.x == "r1" && true');
  expect(bind('data.x == ( run . values["a b"] )')).toBe('data.x == ( "c" )');
  expect(bind("data.x - run.values.below > run.values.half")).toBe("data.x - (-2) > 1.5");
  expect(bind("run.project == null")).toBe("null == null");
  expect(bind("has(run.values.yes) && !has(run.values.no)")).toBe("true && !false");
});

test("other uses of the word stay", () => {
  for (const same of [
    ...["data.run == 1", "event.run == 'x'", "data.all(run, run.id > 1)", "'run.id' == data.run.id"],
  ])
    expect(bind(same)).toBe(same);
  expect(bind("[run.id].exists(run, run == data.x)")).toBe('["r1"].exists(run, run == data.x)');
});

test("a bound filter compares as the value would", () => {
  expect(matches("data.x == run.values.text", { x: run.values.text })).toBe("match");
  expect(matches("data.x == run.values.text", { x: "a" })).toBe("no_match");
  expect(matches("data.x == run.values.below && data.y == run.values.half", { x: -2, y: 1.5 })).toBe("match");
});

test("what has no value, or is a map, is refused with its position", () => {
  for (const [expression, position] of [
    ["data.x == run.values.none", 10],
    ["run == data.x", 0],
    ["data.x == run.values", 10],
    ["data.x == run.id.more", 10],
  ] as const)
    expect(() => bind(expression)).toThrow(expect.objectContaining({ name: "FilterError", position }));
});
