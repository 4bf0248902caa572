import { randomUUID } from "node:crypto";
import { escapeControls } from "../support.ts";

const CODES = { bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

export type Style = keyof typeof CODES;

/** Stands for the start of a colour until a text is written: no text from elsewhere can contain it. */
const MARK = randomUUID();

/** Colours a text where what it is written to shows colours. */
export function paint(style: Style, text: string): string {
  const [on, off] = CODES[style];
  return `${MARK}${on}m${text}${MARK}${off}m`;
}

/**
 * Returns what may be written to a terminal: names, texts and errors come from others. Controls are escaped as in JSON,
 * which stays the same JSON; the only sequences are our own colours, where they are wanted.
 */
export function safe(text: string, isColoured = false): string {
  const [first = "", ...coloured] = text.split(MARK).map(escapeControls);
  const shown = coloured.map((each) => (isColoured ? `\x1b[${each}` : each.replace(/^\d+m/, "")));
  return first + shown.join("");
}

/** Writes to a terminal, or whatever it is redirected to: the only way there for texts. */
export function write(stream: NodeJS.WritableStream, text: string, isColoured = false): void {
  stream.write(safe(text, isColoured));
}
