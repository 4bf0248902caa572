import { type OfficeFile, readXml } from "./office.ts";

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
  const points = readPoints(bytes, () => losses.add("picture", place));
  const children = new Set([...points.values()].flatMap((point) => point.children.map(({ id }) => id)));
  const roots = [...points.keys()].filter((id) => !children.has(id));
  // The others are in circles.
  const waiting = [...roots, ...points.keys()].reverse().map((id) => ({ id, depth: 0 }));
  const lines: string[] = [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const point = points.get(next.id);
    points.delete(next.id);
    const text = point?.text.replace(/\s+/g, " ").trim();
    if (text) lines.push(`${"  ".repeat(next.depth)}- ${text}`);
    const depth = Math.min(MAX_DEPTH, next.depth + (text ? 1 : 0));
    const below = (point?.children ?? []).sort((a, b) => b.order - a.order);
    waiting.push(...below.map(({ id }) => ({ id, depth })));
  }
  return lines.join("\n");
}

function readPoints(bytes: Uint8Array, onPicture: () => void): Map<string, Point> {
  const points = new Map<string, Point>();
  let point: Point | null = null;
  let inText = false;
  readXml(bytes, {
    open(name, { modelId = "", type = "", srcId = "", destId = "", srcOrd = "0" }) {
      if (name === "pt") {
        point = { text: "", children: [] };
        if (!ARRANGING.has(type)) points.set(modelId, point);
      } else if (name === "cxn" && (type === "" || type === "parOf"))
        points.get(srcId)?.children.push({ order: Number(srcOrd), id: destId });
      else if (name === "t") inText = true;
      else if (name === "blip") onPicture();
    },
    close(name) {
      if (name === "t") inText = false;
      else if ((name === "p" || name === "br") && point) point.text += " ";
    },
    text(given) {
      if (inText && point) point.text += given;
    },
  });
  return points;
}
