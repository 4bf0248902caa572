import { IS_COLOURED } from "./environment.ts";

const CODES = { bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Colours a text where a terminal shows it (https://no-color.org). */
export function paint(style: keyof typeof CODES, text: string): string {
  const [on, off] = CODES[style];
  return IS_COLOURED ? `\x1b[${on}m${text}\x1b[${off}m` : text;
}
