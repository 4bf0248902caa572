import type { OfficeFile } from "./office.ts";
import { allOf, type Element, parseXml, singleSpaced, writtenIn } from "./xml.ts";

interface Point {
  text: string;
  children: { order: number; id: string }[];
}

/** Points that only arrange others. */
const ARRANGING = new Set(["pres", "parTrans", "sibTrans"]);
const MAX_DEPTH = 20;

/** Returns the texts of a diagram (SmartArt) as the list that its author wrote. */
export function readDiagram({ archive, losses }: OfficeFile, part: string, place: string): string {
  const bytes = archive.open(part);
  if (!bytes) {
    losses.add("diagram", place);
    return "";
  }
  const diagram = parseXml(bytes);
  for (const _ of allOf(diagram, "blip")) losses.add("picture", place);
  const points = readPoints(diagram);
  const children = new Set([...points.values()].flatMap((point) => point.children.map(({ id }) => id)));
  const roots = [...points.keys()].filter((id) => !children.has(id));
  // The others are in circles.
  const waiting = [...roots, ...points.keys()].reverse().map((id) => ({ id, depth: 0 }));
  const lines: string[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const point = points.get(next.id);
    points.delete(next.id);
    const text = point?.text;
    if (text) lines.push(`${"  ".repeat(next.depth)}- ${text}`);
    const depth = Math.min(MAX_DEPTH, next.depth + (text ? 1 : 0));
    const below = (point?.children ?? []).sort((a, b) => b.order - a.order);
    waiting.push(...below.map(({ id }) => ({ id, depth })));
  }
  return lines.join("\n");
}

function readPoints(diagram: Element): Map<string, Point> {
  const points = new Map<string, Point>();
  for (const point of allOf(diagram, "pt")) {
    const { modelId = "", type = "" } = point.attributes;
    if (!ARRANGING.has(type)) points.set(modelId, { text: singleSpaced(writtenIn(point)), children: [] });
  }
  for (const { attributes } of allOf(diagram, "cxn")) {
    const { type = "parOf", srcId = "", destId = "", srcOrd = "0" } = attributes;
    if (type === "parOf") points.get(srcId)?.children.push({ order: Number(srcOrd), id: destId });
  }
  return points;
}
