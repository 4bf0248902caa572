import { Graph, layout as place } from "@dagrejs/dagre";

interface Size {
  width: number;
  height: number;
}

export interface Line {
  from: string;
  to: string;
}

interface Placed {
  x: number;
  y: number;
}

export type Layout = ReturnType<typeof layOut>;

/** The smallest text of a node has 12 pixels: it is never drawn below 11. */
export const LEAST_ZOOM = 11 / 12;
const MAX_ZOOM = 1.1;
const LEAST_HEIGHT = 180;
const MAX_HEIGHT = 560;
/** Around the graph; the controls are below. */
const PADDING = { top: 20, left: 16, right: 16, bottom: 52 };
/** For the padding and a margin. */
const MARGIN = 88;

function extentOf(placed: Layout, size: Size): Size {
  const places = [...placed.values()];
  return {
    width: Math.max(1, ...places.map(({ x }) => x + size.width)),
    height: Math.max(1, ...places.map(({ y }) => y + size.height)),
  };
}

/** Returns the height of the whole graph at the available width. */
export function heightOf(placed: Layout, size: Size, width: number): number {
  const extent = extentOf(placed, size);
  const zoom = Math.min(MAX_ZOOM, Math.max(LEAST_ZOOM, (width * 0.92) / extent.width));
  return Math.min(MAX_HEIGHT, Math.max(LEAST_HEIGHT, Math.round(extent.height * zoom) + MARGIN));
}

interface View extends Placed {
  zoom: number;
}

/**
 * Returns the view of a graph in its frame: whole if its words are then readable, else the part around a node, or the
 * beginning.
 */
export function viewOf(
  placed: Layout,
  size: Size,
  frame: Size,
  around?: Placed,
): View & { isWhole: boolean; fitting: number } {
  const extent = extentOf(placed, size);
  const width = Math.max(1, frame.width - PADDING.left - PADDING.right);
  const height = Math.max(1, frame.height - PADDING.top - PADDING.bottom);
  const fitting = Math.min(width / extent.width, height / extent.height);
  const zoom = Math.min(MAX_ZOOM, Math.max(LEAST_ZOOM, fitting));
  const along = (whole: number, room: number, middle: number) => {
    const left = room - whole * zoom;
    return left >= 0 ? left / 2 : Math.min(0, Math.max(left, room / 2 - middle * zoom));
  };
  const { x, y } = around ?? { x: 0, y: 0 };
  return {
    x: PADDING.left + along(extent.width, width, x + size.width / 2),
    y: PADDING.top + along(extent.height, height, y + size.height / 2),
    zoom,
    isWhole: fitting >= LEAST_ZOOM,
    fitting,
  };
}

/** Whether a node is wholly in view. */
export function isInView(at: Placed, size: Size, { x, y, zoom }: View, frame: Size): boolean {
  const left = at.x * zoom + x;
  const top = at.y * zoom + y;
  return (
    left >= 0 &&
    top >= 0 &&
    left + size.width * zoom <= frame.width &&
    top + size.height * zoom <= frame.height - PADDING.bottom
  );
}

/**
 * Computes the upper left corner of each box, so that edges lead from left to right (or down) with few crossings.
 * Returns the boxes in reading order.
 */
export function layOut(
  boxes: (Size & { id: string })[],
  lines: Line[],
  direction: "right" | "down",
  between: number,
): Map<string, Placed> {
  const graph = new Graph();
  graph.setGraph({
    rankdir: direction === "right" ? "LR" : "TB",
    nodesep: 20,
    ranksep: between,
    marginx: 8,
    marginy: 8,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(boxes.map(({ id }) => id));
  for (const { id, width, height } of boxes) graph.setNode(id, { width, height });
  for (const { from, to } of lines)
    if (known.has(from) && known.has(to) && from !== to) graph.setEdge(from, to);
  place(graph);
  const places = boxes.map(({ id, width, height }): [string, Placed] => {
    const { x, y } = graph.node(id) as Placed;
    return [id, { x: x - width / 2, y: y - height / 2 }];
  });
  const [along, across] = direction === "right" ? (["x", "y"] as const) : (["y", "x"] as const);
  return new Map(places.sort(([, a], [, b]) => a[along] - b[along] || a[across] - b[across]));
}

const GAP = 20;
/** Between the columns that one rank is broken into. */
const FOLD_GAP = 36;

/**
 * Breaks ranks with many boxes into several columns (or rows, downwards), so that a graph with a hub fills its frame
 * instead of one long column. Returns the layout as it is if it is readable or fits best so.
 */
export function foldRanks(placed: Layout, size: Size, direction: "right" | "down", width: number): Layout {
  const [along, across] = direction === "right" ? (["x", "y"] as const) : (["y", "x"] as const);
  const ranks = [...Map.groupBy(placed, ([, place]) => place[along]).values()];
  const widest = Math.max(0, ...ranks.map(({ length }) => length));
  const frame = { width, height: MAX_HEIGHT };
  let [best, zoom] = [placed, viewOf(placed, size, frame).fitting];
  for (let most = widest - 1; most > 0 && zoom < LEAST_ZOOM; most--) {
    const folded = fold(ranks, size, most, along, across);
    const { fitting } = viewOf(folded, size, frame);
    if (fitting > zoom) [best, zoom] = [folded, fitting];
  }
  return best;
}

type Axis = "x" | "y";

function fold(ranks: [string, Placed][][], size: Size, most: number, along: Axis, across: Axis): Layout {
  const [long, broad] = along === "x" ? [size.width, size.height] : [size.height, size.width];
  const middle = (Math.min(most + 0.5, Math.max(...ranks.map(({ length }) => length))) * (broad + GAP)) / 2;
  const places = new Map<string, Placed>();
  let added = 0;
  for (const rank of ranks) {
    const start = rank[0]?.[1][along] ?? 0;
    const columns = Math.ceil(rank.length / most);
    for (const [at, [id]] of rank.entries()) {
      const column = at % columns;
      const inColumn = Math.ceil((rank.length - column) / columns);
      // Every second column is moved by half a box: lines to those behind pass between its boxes.
      const row = Math.floor(at / columns) - inColumn / 2 + (column % 2) / 2;
      const place = { x: 0, y: 0 };
      place[along] = start + added + column * (long + FOLD_GAP);
      place[across] = Math.max(0, middle + row * (broad + GAP));
      places.set(id, place);
    }
    added += (columns - 1) * (long + FOLD_GAP);
  }
  return places;
}
