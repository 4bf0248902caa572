/** Controls and invisible marks, which could hide something from people; joiners stay, as scripts and emoji need them. */
const INVISIBLE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Returns the beginning of a text. @param most characters */
export function cut(text: string, most: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= most) return trimmed;
  return `${trimmed.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Quotes a text as a block of Markdown that it cannot end: the fence is longer than any run of backticks in it. */
export function fence(text: string): string {
  const shown = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "\ufffd");
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}text\n${shown}\n${ticks}`;
}
