// A copy of lib/text/quoted.ts, written by `npm run openapi`.
/**
 * Characters that could deceive a reader, above all a language model: controls, marks that reorder or hide text,
 * unusual line ends, tags and the selectors beyond those of emoji. Joiners stay, because scripts and emoji need them.
 */
const DECEPTIVE = /(?![\n\t\u200c\u200d])(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[\u{e0100}-\u{e01ef}])/gu;

/**
 * Quotes untrusted text as a fenced block of Markdown that it cannot end: the fence is longer than any run of backticks
 * in it (CommonMark 4.5). Whatever models and people read of what others chose goes through it: texts, types, names, ids.
 */
export function quoteAsData(text: string): string {
  const shown = text.replace(/\r\n?/g, "\n").replace(DECEPTIVE, "\ufffd");
  const runs = shown.match(/`+/g) ?? [];
  const longest = Math.max(2, ...runs.map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}

/** Puts a text on one line: a line break in a title must not start a heading. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Returns the beginning of a text in one line, cut between words if possible. @param most characters */
export function summarise(text: string, most: number): string {
  const line = oneLine(text);
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const space = cut.lastIndexOf(" ");
  const kept = space > most / 2 ? cut.slice(0, space) : cut.replace(/[\ud800-\udbff]$/, "");
  return `${kept}…`;
}
