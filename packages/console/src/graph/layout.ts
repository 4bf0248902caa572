import { Graph, layout as place } from "@dagrejs/dagre";

interface Box {
  id: string;
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

/**
 * Computes the upper left corner of each box, so that edges lead from left to right (or down) with few crossings.
 * Returns the boxes in reading order.
 */
export function layOut(
  boxes: Box[],
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
