import { expect, test } from "@jest/globals";
import { axisOf, DOT, lanesOf, neighbour } from "../../packages/console/src/pages/memories/map-layout.ts";

const on = (id: string, day: number, lane = "a") => ({
  ...{ id, lane, valid_from: new Date(day * 86_400_000).toISOString() },
});
const mapped = (memories: ReturnType<typeof on>[], width = 1000) => {
  const axis = axisOf(memories, 86_400_000 * 100);
  return lanesOf(memories, ({ lane }) => lane, axis, width);
};

test("places memories by time, the largest lane first", () => {
  const lanes = mapped([on("1", 0, "b"), on("2", 100), on("3", 50)]);
  expect(lanes.map(({ name, dots }) => [name, dots.map(({ memory, x }) => [memory.id, x])])).toEqual([
    [
      "a",
      [
        ["3", 500],
        ["2", 1000 - DOT],
      ],
    ],
    ["b", [["1", DOT]]],
  ]);
  expect(lanes[1]?.top).toBe(lanes[0]?.height);
});

test("no two dots cover each other, however many begin on one day", () => {
  const [lane] = mapped(Array.from({ length: 100 }, (_, at) => on(String(at), 50)));
  const places = lane?.dots.map(({ x, y }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(100);
  for (const { y } of lane?.dots ?? []) expect(y + DOT / 2).toBeLessThanOrEqual(lane?.height ?? 0);
});

test("small lanes share the last when there are many", () => {
  const lanes = mapped(Array.from({ length: 60 }, (_, at) => on(String(at), at, `lane ${at}`)));
  expect(lanes).toHaveLength(30);
  expect(lanes.at(-1)).toMatchObject({ name: "Others", dots: { length: 31 } });
});

test("arrow keys lead along a lane and to the nearest of the next", () => {
  const lanes = mapped([on("1", 0), on("2", 40), on("3", 90), on("x", 35, "b"), on("y", 80, "b")]);
  const from = (id: string, key: string) => neighbour(lanes, id, key)?.id;
  expect([from("1", "ArrowRight"), from("2", "ArrowLeft"), from("1", "ArrowLeft")]).toEqual([
    "2",
    "1",
    undefined,
  ]);
  expect([
    ...[from("2", "ArrowDown"), from("3", "ArrowDown"), from("y", "ArrowUp"), from("1", "ArrowUp")],
  ]).toEqual(["x", "y", "3", undefined]);
});

test("one memory has an axis too", () => {
  const axis = axisOf([on("1", 100)], 86_400_000 * 100);
  expect(axis.to).toBeGreaterThan(axis.from);
});
