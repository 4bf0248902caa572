import type { Memory } from "../../../../client/index.ts";

/** Pixels from one dot to the next, and around those of a lane. */
export const DOT = 14;
const PADDING = 8;
/** Rows of a lane: further dots of the same time stand to the right of it. */
const ROWS = 6;
/** Lanes at most; the smaller groups share the last. */
const LANES = 30;
const OTHERS = "Others";

export type Mapped = Pick<Memory, "id" | "valid_from">;

/** A memory's place: its middle, in pixels from the upper left corner of the map. */
interface Dot<M extends Mapped> {
  memory: M;
  x: number;
  y: number;
}

export interface Lane<M extends Mapped> {
  name: string;
  top: number;
  height: number;
  /** From the oldest to the newest. */
  dots: Dot<M>[];
}

/** Times in milliseconds. */
export interface Axis {
  from: number;
  to: number;
}

const DAY = 86_400_000;

/** Returns an axis from when the first memory begins to hold to now, or to when the last does. */
export function axisOf(memories: readonly Mapped[], now: number): Axis {
  const times = memories.map(({ valid_from }) => Date.parse(valid_from));
  const to = times.reduce((last, time) => Math.max(last, time), now);
  return { from: times.reduce((first, time) => Math.min(first, time), to - DAY), to };
}

/** Places memories in lanes, the largest first, each memory where it begins to hold. @param width pixels of the axis */
export function lanesOf<M extends Mapped>(
  memories: readonly M[],
  laneOf: (memory: M) => string,
  { from, to }: Axis,
  width: number,
): Lane<M>[] {
  const byTime = memories.toSorted((a, b) => Date.parse(a.valid_from) - Date.parse(b.valid_from));
  const named = [...Map.groupBy(byTime, laneOf)].sort(
    ([a, { length: many }], [b, { length: more }]) => more - many || a.localeCompare(b),
  );
  const own = named.length > LANES ? named.slice(0, LANES - 1) : named;
  const rest = new Set(named.slice(own.length).flatMap(([, others]) => others));
  if (rest.size > 0) own.push([OTHERS, byTime.filter((memory) => rest.has(memory))]);
  let top = 0;
  return own.map(([name, members]) => {
    /** Where the next dot of each row has room. */
    const free: number[] = [];
    const dots = members.map((memory) => {
      const at = DOT + ((Date.parse(memory.valid_from) - from) / (to - from)) * Math.max(0, width - 2 * DOT);
      let row = free.findIndex((next) => next <= at);
      if (row < 0) row = free.length < ROWS ? free.length : free.indexOf(Math.min(...free));
      const x = Math.max(at, free[row] ?? 0);
      free[row] = x + DOT;
      return { memory, x, y: top + PADDING + (row + 0.5) * DOT };
    });
    const lane = { name, top, height: 2 * PADDING + Math.max(1, free.length) * DOT, dots };
    top += lane.height;
    return lane;
  });
}

/** Where an arrow key leads: along a lane, or to the nearest of the next lane. Undefined at the edge of the map. */
export function neighbour<M extends Mapped>(
  lanes: readonly Lane<M>[],
  id: string,
  key: string,
): M | undefined {
  const lane = lanes.findIndex(({ dots }) => dots.some(({ memory }) => memory.id === id));
  const dots = lanes[lane]?.dots ?? [];
  const at = dots.findIndex(({ memory }) => memory.id === id);
  if (key === "ArrowRight") return dots[at + 1]?.memory;
  if (key === "ArrowLeft") return dots[at - 1]?.memory;
  const next = lanes[lane + (key === "ArrowDown" ? 1 : -1)]?.dots ?? [];
  const far = ({ x }: Dot<M>) => Math.abs(x - (dots[at]?.x ?? 0));
  return next.toSorted((a, b) => far(a) - far(b))[0]?.memory;
}
