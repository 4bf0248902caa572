import { expect, test } from "@jest/globals";
import {
  foldRanks,
  heightOf,
  isInView,
  LEAST_ZOOM,
  layOut,
  viewOf,
} from "../../packages/console/src/graph/layout.ts";
import { distinctLabels } from "../../packages/console/src/pages/memories/labels.ts";
import { axisOf, DOT, lanesOf, neighbour } from "../../packages/console/src/pages/memories/map-layout.ts";

const SIZE = { width: 216, height: 62 };
/** Steps that each wait for the one before. */
const chain = (count: number) => {
  const ids = Array.from({ length: count }, (_, at) => `s${at}`);
  const lines = ids.slice(1).map((to, at) => ({ from: ids[at] as string, to }));
  return layOut(
    ids.map((id) => ({ id, ...SIZE })),
    lines,
    "right",
    56,
  );
};

test("is whole and in the middle, where it is readable so", () => {
  const placed = chain(3);
  const frame = { width: 1100, height: heightOf(placed, SIZE, 1100) };
  const view = viewOf(placed, SIZE, frame);
  expect(view.isWhole).toBe(true);
  for (const at of placed.values()) expect(isInView(at, SIZE, view, frame)).toBe(true);
});

test.each([14, 100])(
  "of %i steps is never too small to read, and shows the step that is asked for",
  (count) => {
    const placed = chain(count);
    for (const width of [360, 1100]) {
      const frame = { width, height: heightOf(placed, SIZE, width) };
      const first = viewOf(placed, SIZE, frame);
      expect(first).toMatchObject({ isWhole: false, zoom: LEAST_ZOOM });
      expect(isInView(placed.get("s0") as { x: number; y: number }, SIZE, first, frame)).toBe(true);
      for (const key of ["s0", "s6", `s${count - 1}`]) {
        const at = placed.get(key) as { x: number; y: number };
        expect(isInView(at, SIZE, viewOf(placed, SIZE, frame, at), frame)).toBe(true);
      }
      expect(isInView(placed.get("s9") as { x: number; y: number }, SIZE, first, frame)).toBe(false);
    }
  },
);

test("leaves no empty room at either end", () => {
  const placed = chain(20);
  const frame = { width: 1000, height: 300 };
  const last = placed.get("s19") as { x: number; y: number };
  const { x, zoom } = viewOf(placed, SIZE, frame, last);
  expect(Math.round((last.x + SIZE.width) * zoom + x)).toBe(984);
  expect(viewOf(placed, SIZE, frame).x).toBe(16);
});

test.each(["right", "down"] as const)(
  "a hub's many neighbours fill the frame, %s, none above another",
  (direction) => {
    const ids = ["hub", ...Array.from({ length: 24 }, (_, at) => `n${at}`)];
    const lines = ids.slice(1).map((from) => ({ from, to: "hub" }));
    const placed = layOut(
      ids.map((id) => ({ id, ...SIZE })),
      lines,
      direction,
      56,
    );
    const width = direction === "right" ? 1100 : 360;
    const folded = foldRanks(placed, SIZE, direction, width);
    const zoomOf = (layout: typeof placed) => viewOf(layout, SIZE, { width, height: 560 }).fitting;
    expect(zoomOf(folded)).toBeGreaterThan(1.5 * zoomOf(placed));
    const places = [...folded.values()];
    expect(places).toHaveLength(25);
    const overlaps = places.filter((a, at) =>
      places.some((b, i) => i < at && Math.abs(a.x - b.x) < SIZE.width && Math.abs(a.y - b.y) < SIZE.height),
    );
    expect(overlaps).toEqual([]);
    expect(foldRanks(chain(3), SIZE, "right", 1100)).toEqual(chain(3));
  },
);

test("no two labels are equal where they are seen", () => {
  const long = "Customers in the north prefer delivery on Saturday mornings because ";
  const titles = [
    `${long}shops are closed`,
    `${long}they work far away`,
    ...["Report", "Report", "Outage of May"],
  ];
  const labels = distinctLabels(titles.map((title, at) => ({ id: `0199c0de-00000${at}`, title })));
  expect([...labels.values()]).toEqual([
    ...["Customers in the… shops are closed", "Customers in the… they work far away", "…000002 Report"],
    "…000003 Report",
    "Outage of May",
  ]);
});

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
