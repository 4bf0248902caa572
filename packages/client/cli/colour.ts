import { randomUUID } from "node:crypto";
import { escapeControls } from "../support.ts";
import { IS_COLOURED } from "./environment.ts";

const CODES = { bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Stands for the start of a colour until `safe`: no text from elsewhere can contain it. */
const MARK = randomUUID();

/** Colours a text where a terminal shows it (https://no-color.org). */
export function paint(style: keyof typeof CODES, text: string): string {
  const [on, off] = CODES[style];
  return IS_COLOURED ? `${MARK}${on}m${text}${MARK}${off}m` : text;
}

/**
 * Returns what may be written to a terminal: names, texts and errors come from others. Controls are escaped as in JSON,
 * which stays the same JSON; the only sequences are our own colours.
 */
export function safe(text: string): string {
  return text.split(MARK).map(escapeControls).join("\x1b[");
}

/** Writes to a terminal, or whatever it is redirected to: the only way there for texts. */
export function write(stream: NodeJS.WritableStream, text: string): void {
  stream.write(safe(text));
}
