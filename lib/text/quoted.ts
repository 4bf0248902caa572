/**
 * Characters that could deceive a reader, above all a language model: controls, marks that reorder or hide text,
 * unusual line ends, tags. Joiners stay, because scripts and emoji need them.
 */
const DECEPTIVE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are searched for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Quotes untrusted text as a fenced block of Markdown that it cannot end: the fence is longer than any run of backticks
 * in it (CommonMark 4.5). For briefs that agents read.
 */
export function quoteAsData(text: string): string {
  const shown = text.replace(/\r\n?/g, "\n").replace(DECEPTIVE, "\ufffd");
  const runs = shown.match(/`+/g) ?? [];
  const longest = Math.max(2, ...runs.map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}

/** Returns the beginning of a text in one line, cut between words if possible. @param most characters */
export function summarise(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const space = cut.lastIndexOf(" ");
  const kept = space > most / 2 ? cut.slice(0, space) : cut.replace(/[\ud800-\udbff]$/, "");
  return `${kept}…`;
}
