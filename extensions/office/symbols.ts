import { codePoint } from "dingbat-to-unicode";

/** Fonts whose characters are pictures, or Greek letters. */
const FONTS = /^(?:symbol|webdings|wingdings(?: [23])?|zapfdingbats)$/i;
/** Boxes that forms tick: one sign for each state, which fonts and search know. */
const BOXES: Record<string, string> = {
  ...Object.fromEntries([..."🗷🗵⮽⌧🗳"].map((sign) => [sign, "☒"])),
  "🗹": "☑",
  ...Object.fromEntries([..."🞎🞏□◻⬜🗆❏❐❑❒▢"].map((sign) => [sign, "☐"])),
};
const NAMES: Record<string, string> = {
  symbol: "Symbol",
  webdings: "Webdings",
  zapfdingbats: "ZapfDingbats",
  wingdings: "Wingdings",
  "wingdings 2": "Wingdings 2",
  "wingdings 3": "Wingdings 3",
};

/** Returns what a font of symbols shows for a text; other fonts show the text itself. */
export function symbolText(text: string, font = ""): string {
  const name = font.trim().toLowerCase();
  return FONTS.test(name)
    ? text.replace(/./gsu, (sign) => symbol(sign.codePointAt(0) as number, name))
    : text;
}

/** Returns the sign of `w:sym`: its code as hexadecimal number in its font. */
export function symbolAt(code: string, font: string): string {
  const point = Number.parseInt(code, 16);
  return point >= 0 && point <= 0x10ffff ? symbolText(String.fromCodePoint(point), font) : "";
}

/** Programs move the codes of such fonts into the private range from U+F000. */
function symbol(code: number, font: string): string {
  const { string = String.fromCodePoint(code) } =
    codePoint(NAMES[font] as string, code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code) ?? {};
  return BOXES[string] ?? string;
}
