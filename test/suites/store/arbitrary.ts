import fc from "fast-check";

/** Values few enough to meet again in filters. */
const scalar = fc.constantFrom<unknown>(
  null,
  -1,
  0,
  1,
  2.5,
  "",
  "a",
  "ab",
  "\x7fb",
  "é",
  true,
  false,
  new Date(0),
  new Date(-7),
  new Date(1_700_000_000_000),
);
const embedded = fc.record({ x: scalar, y: scalar }, { requiredKeys: [] });
const element = fc.oneof({ weight: 3, arbitrary: scalar }, embedded);
const value = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(element, { maxLength: 3 }) },
  { weight: 2, arbitrary: embedded },
);

/** `s` is never an array, so that it can share an index with other fields. */
export const documents = fc
  .array(
    fc.record(
      { a: value, b: value, c: scalar, s: scalar, list: fc.array(scalar, { maxLength: 3 }) },
      { requiredKeys: [] },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((list) => list.map((document, _id) => ({ _id, ...document })));

const path = fc.constantFrom("a", "b", "c", "s", "_id");
const dotted = fc.constantFrom("a.x", "b.y", "a.0");

/** Filters; if `portable`, without those that mongo-java-server answers differently (mostly paths through arrays). */
export function filters(portable: boolean): fc.Arbitrary<Record<string, unknown>> {
  const comparable = scalar.filter((operand) => !portable || operand !== null);
  const range = fc
    .constantFrom("$gt", "$gte", "$lt", "$lte")
    .chain((name) => comparable.map((operand) => ({ [name]: operand })));
  const list = fc.array(scalar, { maxLength: 4 });
  const condition = fc.oneof(
    scalar,
    range,
    scalar.map((operand) => ({ $eq: operand })),
    scalar.map((operand) => ({ $ne: operand })),
    list.map((operand) => ({ $in: operand })),
    list.map((operand) => ({ $nin: operand })),
    fc.boolean().map((operand) => ({ $exists: operand })),
    fc.constantFrom("^a", "b$", "^ab*", ...(portable ? [] : ["b"])).map((operand) => ({ $regex: operand })),
    ...(portable ? [] : [fc.tuple(comparable, comparable).map(([low, high]) => ({ $gte: low, $lt: high }))]),
    range.map((operand) => ({ $elemMatch: { x: operand } })),
  );
  const positive = fc.oneof(
    range,
    fc.constantFrom(-1, 1, "a", true).map((wanted) => ({ $eq: wanted })),
  );
  const entry = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(path, condition) },
    { weight: 1, arbitrary: fc.tuple(dotted, portable ? positive : condition) },
  );
  const { filter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, depthSize: "small" },
      fc.array(entry, { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
      fc
        .tuple(fc.constantFrom("$and", "$or"), fc.array(tie("filter"), { minLength: 1, maxLength: 3 }))
        .map(([name, clauses]) => ({ [name]: clauses })),
    ),
  }));
  return filter;
}

const operand = fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }));
const number = fc.constantFrom(-1, 0.5, 2);

/**
 * Updates; some are refused for the documents they meet. mongo-java-server takes a null for a missing value,
 * and leads an update's path through the documents of an array.
 */
export function updates(portable: boolean): fc.Arbitrary<Record<string, unknown>> {
  const target = fc.constantFrom("a", "b", "c", "d", portable ? "e.x" : "a.x");
  const array = portable ? fc.constantFrom("list", "other") : fc.constantFrom("list", "a", "b", "a.x", "d");
  const count = portable ? fc.constantFrom("n", "m") : target;
  const many = fc.array(scalar, { maxLength: 3 });
  const on = (name: string, to: fc.Arbitrary<string>, given: fc.Arbitrary<unknown>) =>
    fc.tuple(to, given).map(([key, item]) => ({ [name]: { [key]: item } }));
  return fc.oneof(
    on("$set", target, operand),
    on("$set", fc.constant("s"), scalar),
    on("$unset", target, fc.constant(1)),
    on("$inc", count, number),
    on("$max", count, number),
    on("$push", array, scalar),
    on(
      "$push",
      array,
      many.map((items) => ({ $each: items, $slice: -3 })),
    ),
    on("$addToSet", array, scalar),
    on("$pull", array, scalar),
    fc.tuple(scalar, number).map(([given, amount]) => ({ $set: { c: given }, $inc: { n: amount } })),
  );
}
