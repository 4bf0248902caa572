import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ObjectId } from "mongodb";
import { decode, encode, toRaw } from "../query/codec.ts";
import { compare, fromKey, isOdd, type Key, type Raw, toKey } from "../query/values.ts";

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("\x7f", "\x7f ", "\x7f9", "~", "\u{1f600}", "\uffee"),
);
const date = fc.date({ noInvalidDate: true });
const oid = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes));
const bytes = fc.uint8Array({ maxLength: 6 }).map((list) => Buffer.from(list));
const scalar = fc
  .oneof(fc.constant(null), fc.boolean(), fc.double({ noNaN: true }), fc.integer(), text, date, oid, bytes)
  .map(toRaw);

/** Compares as SQLite does: NULL, numbers, text by bytes. */
function compareKeys(a: Key, b: Key): number {
  const rank = (key: Key) => (key === null ? 0 : typeof key === "number" ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return (a as number) < (b as number) ? -1 : a === b ? 0 : 1;
}

describe("column values", () => {
  test("order as the values do", () => {
    const wellFormed = scalar.filter((value) => typeof value !== "string" || value.isWellFormed());
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        fc.pre(!isOdd(a) && !isOdd(b));
        expect(Math.sign(compareKeys(toKey(a), toKey(b)))).toBe(Math.sign(compare(a, b)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("give the value back", () => {
    fc.assert(
      fc.property(scalar, (value) => {
        fc.pre(!isOdd(value));
        expect(fromKey(toKey(value))).toEqual(value);
      }),
    );
  });
});

describe("stored text", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("$", "$$", "$set", "__proto__", "a.b", "0"));
  const { anything } = fc.letrec((tie) => ({
    anything: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.constant(null), fc.boolean(), fc.double(), text, date, oid),
      fc.array(tie("anything"), { maxLength: 4 }),
      fc.dictionary(key, tie("anything"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));

  test("gives back what was put in", () => {
    const positive = anything.filter((value) => !holdsNegativeZero(value));
    fc.assert(
      fc.property(positive, (value) => {
        const before = JSON.stringify(value);
        expect(decode(encode(value))).toEqual(value);
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 1_000 },
    );
  });

  test("hears toBSON and not toJSON", () => {
    const value = {
      a: { toBSON: () => 1 },
      b: new (class {
        c = 2;
        toJSON() {
          return 3;
        }
      })(),
    };
    expect(decode(encode(value))).toEqual({ a: 1, b: { c: 2 } });
  });

  test("takes undefined for null and leaves functions out, as BSON does", () =>
    expect(decode(encode({ a: undefined, b: () => 1, c: [undefined] }))).toEqual({ a: null, c: [null] }));
});

// JSON has no negative zero: it is stored as zero.
function holdsNegativeZero(value: unknown): boolean {
  if (typeof value === "number") return Object.is(value, -0);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsNegativeZero);
}

test("arrays and documents compare element by element", () => {
  const ascending: Raw[] = [
    {},
    { a: 1 },
    { a: 2 },
    { b: 1 },
    { b: 1, c: 1 },
    { a: "x" },
    [],
    [1],
    [1, 2],
    [2],
  ];
  expect([...ascending].reverse().sort(compare)).toEqual(ascending);
});
