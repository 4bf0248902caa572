import { allOf, childOf, parseXml, singleSpaced, textOf } from "./xml.ts";

/** Controls that are ticked. */
const TICKED = new Set(["Checkbox", "Radio"]);
/** Drawn for other parts: comments, and pictures of printed pages. */
const ELSEWHERE = new Set(["Note", "Pict", ""]);

/** Returns the form controls of a sheet with their labels: `☒ Insured`. */
export function readControls(bytes: Uint8Array): string {
  const lines = allOf(parseXml(bytes), "shape").map((shape) => {
    const data = childOf(shape, "ClientData");
    const kind = data?.attributes.ObjectType ?? "";
    if (ELSEWHERE.has(kind)) return "";
    const label = singleSpaced(textOf(childOf(shape, "textbox")));
    const isTicked = textOf(childOf(data, "Checked")).trim() === "1";
    const mark = isTicked ? "☒" : "☐";
    return TICKED.has(kind) ? `${mark} ${label}`.trim() : label;
  });
  return lines.filter(Boolean).join("\n");
}
