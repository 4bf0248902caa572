import { expect, test } from "@jest/globals";
import { afterPlace, fromCursor, pageOf, toCursor } from "../../lib/contract/cursor.ts";

const encoded = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString("base64url");

test.each([
  ["created_at", new Date("2026-05-01T10:00:00.123Z")],
  ["title", 'Café "𝄞"'],
  ["confidence", 0],
])("a place in a list by %s comes back", (by, value) =>
  expect(fromCursor(toCursor(by, { value, id: "a" }), by)).toEqual({ value, id: "a" }),
);

test.each([
  ["no base64", "%%%"],
  ["no JSON", Buffer.from("[").toString("base64url")],
  ["no list", encoded({ by: "title" })],
  ["of another order", toCursor("created_at", { value: new Date(0), id: "a" })],
  ["without an id", encoded(["title", "x"])],
  ["an operator for a value", encoded(["title", { $gt: "" }, "a"])],
  ["an operator for an id", encoded(["title", "x", { $ne: "" }])],
  ["nothing", ""],
])("what no list gave is refused: %s", (_, cursor) =>
  expect(() => fromCursor(cursor, "title")).toThrow(expect.objectContaining({ type: "validation_failed" })),
);

test("a time that is none is refused", () => {
  for (const value of ["soon", 1e99, null])
    expect(() => fromCursor(encoded(["created_at", value, "a"]), "created_at")).toThrow("cursor");
});

test("a page has a cursor while rows follow it", () => {
  const rows = [3, 2, 2].map((ms, i) => ({ _id: `${i}`, created_at: new Date(ms) }));
  const { page, next_cursor } = pageOf({ rows }, 2, "created_at");
  expect(page).toEqual(rows.slice(0, 2));
  expect(fromCursor(next_cursor as string, "created_at")).toEqual({ value: new Date(2), id: "1" });
  expect(pageOf({ rows }, 3, "created_at")).toEqual({ page: rows, next_cursor: null });
  expect(pageOf({ rows, more: true }, 3, "created_at").next_cursor).not.toBeNull();
});

test("rows of the same value are told apart by their ids", () => {
  expect(afterPlace({ value: "x", id: "b" }, { by: "title", sign: 1 })).toEqual({
    title: { $gte: "x" },
    $or: [{ title: { $gt: "x" } }, { _id: { $gt: "b" } }],
  });
  expect(afterPlace({ value: 2, id: "b" }, { by: "trust", sign: -1 })).toEqual({
    trust: { $lte: 2 },
    $or: [{ trust: { $lt: 2 } }, { _id: { $lt: "b" } }],
  });
});
