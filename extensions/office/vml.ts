import { readXml } from "./office.ts";

/** Controls that are ticked. */
const TICKED = new Set(["Checkbox", "Radio"]);
/** Drawn for other parts: comments, and pictures of printed pages. */
const ELSEWHERE = new Set(["Note", "Pict", ""]);

/** Returns the form controls of a sheet with their labels: `☒ Insured`. */
export function readControls(bytes: Uint8Array): string {
  const lines: string[] = [];
  let kind = "";
  let label = "";
  let state = "";
  let inBox = false;
  let inState = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === "shape") kind = label = state = "";
      else if (name === "textbox") inBox = true;
      else if (name === "ClientData") kind = attributes.ObjectType ?? "";
      else if (name === "Checked") inState = true;
    },
    close(name) {
      if (name === "textbox") inBox = false;
      else if (name === "Checked") inState = false;
      else if (name === "shape") {
        const text = label.replace(/\s+/g, " ").trim();
        const mark = TICKED.has(kind) ? (state.trim() === "1" ? "☒ " : "☐ ") : "";
        if (!ELSEWHERE.has(kind) && (mark || text)) lines.push(`${mark}${text}`.trim());
      }
    },
    text(given) {
      if (inBox) label += given;
      else if (inState) state += given;
    },
  });
  return lines.join("\n");
}
