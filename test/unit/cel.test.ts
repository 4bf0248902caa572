import { describe, expect, jest, test } from "@jest/globals";
import { Environment } from "@marcbachmann/cel-js";
import { compileFilter } from "../../lib/filter/filter.ts";

// What lib/filter/cel.ts expects of cel-js beyond its public interface. If an update fails here, filters may run without
// a limit or without corrections: change the adapter first.

interface CheckedNode {
  op: string;
  args: unknown;
  start: number;
  end: number;
  checkedType?: { name: string };
  meta: { evaluate: unknown; alternate?: CheckedNode; macro?: object };
  setMeta(key: "evaluate", evaluate: (...args: unknown[]) => unknown): void;
  handle?: (...args: unknown[]) => unknown;
}

const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
const data = { n: 7, items: [1, 2, 3], entry: { k: 1 }, text: "abc", yes: true };

function checked(expression: string) {
  const parsed = environment.parse(expression);
  expect(parsed.check()).toMatchObject({ valid: true });
  return {
    run: () => parsed(new Map(Object.entries(data)) as never),
    tree: parsed.ast as unknown as CheckedNode,
  };
}

/** Puts a function in place of a node's operation, and returns what it was called with. */
function intercept(node: CheckedNode, result: unknown): unknown[][] {
  const calls: unknown[][] = [];
  expect(node.handle).toBeInstanceOf(Function);
  node.handle = (...args) => {
    calls.push(args);
    return result;
  };
  return calls;
}

describe("an operation is `handle`, called with its operands' values", () => {
  test.each([
    ...["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"].map(
      (op) => [`n ${op} text`, op, [7, "abc"]] as const,
    ),
    ["2 + 3", "+", [2n, 3n]],
    ["'a' == 'b'", "==", ["a", "b"]],
    ["n in items", "in", [7, data.items]],
    ["items[0]", "[]", [data.items, 0n]],
    ["entry.k", ".", [data.entry, "k"]],
  ] as const)("%s", (expression, op, operands) => {
    const { run, tree } = checked(expression);
    const calls = intercept(tree, "replaced");
    expect(run()).toBe("replaced");
    expect(tree.op).toBe(op);
    expect(calls.map((args) => args.slice(0, 2))).toEqual([operands]);
    expect(calls[0]?.length).toBeLessThanOrEqual(4);
  });

  test.each(["-n", "-(3)"])("%s: with one operand, the second argument is the node", (expression) => {
    const { run, tree } = checked(expression);
    const calls = intercept(tree, "replaced");
    expect(run()).toBe("replaced");
    expect(tree.op).toBe("-_");
    expect(calls[0]?.[1]).toBe(tree);
  });

  test.each([
    ["size(text)", "call", ["abc"]],
    ["size('abc')", "call", ["abc"]],
    ["text.startsWith('a')", "rcall", ["abc", "a"]],
    ["'abc'.substring(1, 2)", "rcall", ["abc", 1n, 2n]],
  ])("%s: of a call, as one array with the receiver first", (expression, op, values) => {
    const { run, tree } = checked(expression);
    const calls = intercept(tree, "replaced");
    expect(run()).toBe("replaced");
    expect(tree.op).toBe(op);
    expect(calls.map(([first]) => first)).toEqual([values]);
    expect(calls[0]?.length).toBe(3);
  });
});

describe("macros", () => {
  test.each(["all", "exists", "exists_one", "filter", "map"])(
    "`%s` is a comprehension, called with its range",
    (name) => {
      const { run, tree } = checked(`items.${name}(x, x > 1)`);
      expect(tree.args).toEqual([name, expect.objectContaining({ op: "id" }), expect.any(Array)]);
      expect(tree.meta.alternate?.op).toBe("comprehension");
      const calls = intercept(tree.meta.alternate as CheckedNode, "replaced");
      expect(run()).toBe("replaced");
      expect(calls[0]?.[0]).toBe(data.items);
    },
  );

  test("the nodes of their bodies are evaluated themselves", () => {
    const { run, tree } = checked("items.all(x, x + 1.0 > 1)");
    const [, , [, body]] = tree.args as [string, CheckedNode, [CheckedNode, CheckedNode]];
    const calls = intercept(body, true);
    expect(run()).toBe(true);
    expect(calls).toHaveLength(3);
  });

  test("`has` and `cel.bind` have no operation", () => {
    for (const expression of ["has(entry.k.l)", "cel.bind(x, n, x)"]) {
      const { tree } = checked(expression);
      expect(tree.meta.macro).toBeInstanceOf(Object);
      expect(tree.handle).toBeUndefined();
    }
  });

  test("the fields in `has` are not evaluated as nodes", () => {
    const [, [inside]] = checked("has(entry.k)").tree.args as [string, [CheckedNode]];
    expect(inside).toMatchObject({ op: "." });
    expect(inside.checkedType).toBeUndefined();
  });
});

describe("`evaluate` can be replaced after the check", () => {
  test.each([
    ["a literal", "n == 1.0", (tree: CheckedNode) => (tree.args as CheckedNode[])[1], 7, true],
    ["a condition", "yes && yes", (tree: CheckedNode) => (tree.args as CheckedNode[])[0], false, false],
    ["a condition of `?:`", "yes ? 1 : 2", (tree: CheckedNode) => (tree.args as CheckedNode[])[0], false, 2n],
    ["an operand of `!`", "!yes", (tree: CheckedNode) => tree.args as CheckedNode, false, true],
    ["a key", "{text: 1} == {'other': 1}", firstKey, "other", true],
    ["a macro", "items.all(x, x > 5) || n == 0", firstOperand, true, true],
  ])("of %s: %s", (_, expression, find, value, result) => {
    const { run, tree } = checked(expression);
    find(tree)?.setMeta("evaluate", () => value);
    expect(run()).toEqual(result);
  });

  function firstOperand(tree: CheckedNode): CheckedNode {
    const [node] = tree.args as [CheckedNode];
    return node.meta.alternate ?? node;
  }

  function firstKey(tree: CheckedNode): CheckedNode {
    const [{ args }] = tree.args as [{ args: [[CheckedNode, CheckedNode]] }];
    return args[0][0];
  }

  test("and called through", () => {
    const { run, tree } = checked("yes && n == 7");
    const [condition] = tree.args as [CheckedNode];
    const evaluate = condition.meta.evaluate as (...args: unknown[]) => unknown;
    const seen: unknown[] = [];
    condition.setMeta("evaluate", (...args) => {
      const value = evaluate(...args);
      seen.push(value);
      return value;
    });
    expect(run()).toBe(true);
    expect(seen).toEqual([true]);
  });
});

test("an error of an operation is absorbed by `||` only", () => {
  for (const [expression, isAbsorbed] of [
    ["n > 1 || yes", true],
    ["n > 1 && yes", false],
  ] as const) {
    const { run, tree } = checked(expression);
    const [failing] = tree.args as [CheckedNode];
    failing.handle = () => {
      throw new RangeError("too much");
    };
    if (isAbsorbed) expect(run()).toBe(true);
    else expect(run).toThrow("too much");
  }
});

test("nodes have a checked type, and their place in the text", () => {
  const { tree } = checked("text == 'abc' && yes");
  const [left, right] = tree.args as [CheckedNode, CheckedNode];
  expect([tree, left, right].map(({ checkedType }) => checkedType?.name)).toEqual(["bool", "bool", "dyn"]);
  const [, literal] = left.args as [CheckedNode, CheckedNode];
  expect(literal).toMatchObject({ op: "value", args: "abc", start: 8, end: 13 });
});

test("a filter with an operation that cannot be charged does not compile", () => {
  const parse = Environment.prototype.parse;
  const spied = jest.spyOn(Environment.prototype, "parse").mockImplementation(function (
    this: Environment,
    text,
  ) {
    const parsed = parse.call(this, text);
    const { check } = parsed;
    parsed.check = () => {
      const checkedAs = check();
      delete (parsed.ast as unknown as CheckedNode).handle;
      return checkedAs;
    };
    return parsed;
  });
  expect(() => compileFilter("data.changed > 1")).toThrow("cel-js has no operation for >");
  spied.mockRestore();
  expect(() => compileFilter("data.changed > 1")).not.toThrow();
});
