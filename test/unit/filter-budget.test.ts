import { describe, expect, jest, test } from "@jest/globals";
import { Environment } from "@marcbachmann/cel-js";
import { compileFilter, EventScope } from "../../lib/filter/filter.ts";

// Work blocks the event loop, so the tests count work: how often a filter reads an instrumented field.

const numbers = (length: number) => Array.from({ length }, (_, i) => i % 7);
const explain = (expression: string, data: unknown) =>
  compileFilter(expression).explain(new EventScope({ type: "t", data }));

function counted(length: number): { list: object[]; reads: () => number } {
  let reads = 0;
  const element = {
    get n() {
      reads++;
      return 1;
    },
  };
  return { list: Array.from({ length }, () => element), reads: () => reads };
}

describe("work grows no further than the budget", () => {
  test.each([
    "l.all(a, a.n > 0)",
    "l.all(a, l.all(b, a.n + b.n > 0.0))",
    "l.exists(a, l.exists(b, l.exists(c, a.n + b.n + c.n < 0.0)))",
    "l.exists(a, l.exists(b, a.n == nope))",
    "l.all(a, nope == a.n || nope == a.n || nope == a.n || a.n == 1)",
    "l.map(a, l.map(b, a.n + b.n)).size() == 0",
    "l.filter(a, a.n == 1).filter(a, a.n == 1).exists(a, l.filter(b, b.n == 2) == [a])",
  ])("%s", (expression) => {
    const { list, reads } = counted(20_000);
    expect(explain(expression, { l: list })).toMatchObject({
      outcome: "error",
      error: expect.stringContaining("too costly"),
    });
    expect(reads()).toBeLessThan(50_000);
  });

  test("a list of everyday length is no trouble", () => {
    const { list, reads } = counted(50);
    expect(explain("l.all(a, l.all(b, a.n == b.n))", { l: list })).toEqual({ outcome: "match" });
    expect(reads()).toBe(5_000);
  });

  test("nested macros over literals", () => {
    const ten = "[1,2,3,4,5,6,7,8,9,10]";
    const nested = ["a", "b", "c", "d", "e", "f"].reduceRight(
      (body, name) => `${ten}.all(${name}, ${body})`,
      "a > 0",
    );
    expect(explain(nested, {}).error).toContain("too costly");
  });
});

describe("operations pay for the size of what they are given, before they run", () => {
  const long = "ab".repeat(400_000);
  const data = {
    ...{ long, other: `${long}c`, needle: "a".repeat(200_000), digits: "1".repeat(100_000) },
    ...{ numbers: numbers(100_000), few: numbers(200) },
    book: Object.fromEntries(numbers(50_000).map((n, i) => [`k${i}`, n])),
  };
  test.each([
    ...["numbers == numbers.map(n, n)", "9 in numbers", "few.all(f, f in numbers)"],
    ...["(numbers + numbers).size() > 0", "few.map(f, numbers + few).size() > 0"],
    "cel.bind(a, numbers + numbers, cel.bind(b, a + a, cel.bind(c, b + b, (c + c).size() > 0)))",
    "cel.bind(a, long + long, cel.bind(b, a + a, cel.bind(c, b + b, (c + c).contains('x'))))",
    ...["long.contains(needle)", "long.contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab')"],
    ...["size(long) > 1", "few.all(f, long < other)", "few.all(f, long.lowerAscii() == other)"],
    ...["long.split('').size() > 1", "duration(digits) > duration('1s')", "'k1' in book"],
    ...["book.all(key, key != 'x')", "book == numbers", "size(book) > 1"],
    "few.all(f, timestamp('2026-01-01T00:00:00Z').getHours('Europe/Berlin') == 1)",
    "long.matches('[ab]*a[ab]{300}[c-z]')",
    "few.exists(f, few.exists(g, 'aaaaaaaaaaaaaaaaaaaaaa'.matches('(a|b)*a{20}c')))",
  ])("%s", (expression) =>
    expect(explain(expression, data)).toMatchObject({
      outcome: "error",
      error: expect.stringContaining("too costly"),
    }),
  );

  test("what is not costly is not refused", () => {
    for (const expression of [
      ...["long.startsWith('abab')", "long != 'x'", "numbers[5] == 5", "book.k3 == 3"],
      "numbers.size() == 100000",
    ])
      expect([expression, explain(expression, data)]).toEqual([expression, { outcome: "match" }]);
  });

  test("an absorbed budget error does not turn into a match", () => {
    expect(explain("numbers == numbers.map(n, n) || true", data).outcome).toBe("error");
    expect(explain("!(few.exists(f, f in numbers))", data).outcome).toBe("error");
  });

  test("the next evaluation has a new budget", () => {
    expect(explain("9 in numbers", data).outcome).toBe("error");
    expect(explain("few.exists(f, f == 6)", data).outcome).toBe("match");
  });
});

describe("deeply nested values", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i++) deep = i % 2 === 0 ? [deep] : { deep };

  test.each([
    ...["deep == deep", "deep in [1]", "size(deep) == 1", "deep.startsWith('x')", "deep + 1 == 2"],
    ...["deep ? true : false", "!deep", "[0][deep] == 0"],
  ])("%s is an error", (expression) => expect(explain(expression, { deep }).outcome).toBe("error"));

  test("can be walked by name", () =>
    expect(
      explain("a.b.c.d.e.f.g.h.i.j == 1", {
        a: { b: { c: { d: { e: { f: { g: { h: { i: { j: 1 } } } } } } } } },
      }),
    ).toEqual({ outcome: "match" }));
});

test("the reason of an error does not carry the event", () =>
  expect(explain("m[s] == 1", { m: {}, s: "x".repeat(100_000) }).error?.length).toBeLessThan(400));

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
      delete (parsed.ast as { handle?: unknown }).handle;
      return checkedAs;
    };
    return parsed;
  });
  expect(() => compileFilter("data.changed > 1")).toThrow("cel-js has no operation for >");
  spied.mockRestore();
  expect(() => compileFilter("data.changed > 1")).not.toThrow();
});
