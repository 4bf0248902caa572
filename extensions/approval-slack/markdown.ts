/** Below Slack's limit of a section. */
const MOST_TEXT = 2900;
/** So that a piece of a line fits when each of its characters is escaped. */
const PIECE = 500;
const FENCE = "```";

/** Slack takes these for mentions, links and entities. */
export const escaped = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Splits a text at its lines, each part below Slack's limit of a section. */
export function splitText(text: string, most = MOST_TEXT): string[] {
  const parts: string[] = [];
  let part = "";
  for (const line of text.split(/(?<=\n)/).flatMap((each) => pieces(each, most))) {
    if (part.length + line.length > most) {
      parts.push(part);
      part = "";
    }
    part += line;
  }
  return [...parts, part].map((each) => each.trimEnd()).filter(Boolean);
}

/** Without half of a character at an end. */
const pieces = (line: string, most: number) =>
  line.length <= most ? [line] : (line.match(new RegExp(`[^]{1,${most}}`, "gu")) ?? []);

/**
 * Converts Markdown to parts in Slack's own markup, line by line. Nothing of it is lost, and nothing becomes a mention or a
 * link: links show their addresses.
 */
export function toMrkdwn(markdown: string): string[] {
  const parts: string[] = [];
  let part = "";
  /** The line that has opened the code. */
  let fence = "";
  const end = () => {
    parts.push(fence ? `${part}${FENCE}` : part.trimEnd());
    part = fence ? `${FENCE}\n` : "";
  };
  for (const line of markdown.replace(/\r\n?/g, "\n").split("\n")) {
    const isEdge = fence ? closes(fence, line) : /^\s*(?:`{3,}[^`]*|~{3,}.*)$/.test(line);
    const shown = isEdge ? [fence ? FENCE : openingOf(line)] : fence ? inFence(line) : linesFor(line);
    for (const each of shown) {
      if (part.length + each.length + FENCE.length + 2 > MOST_TEXT) end();
      part += `${each}\n`;
    }
    if (isEdge) fence = fence ? "" : line.trim();
  }
  if (fence) part = `${part}${FENCE}`;
  fence = "";
  end();
  return parts.filter((each) => each.trim());
}

/** Slack would show the language as code. */
const openingOf = (line: string) => {
  const language = escaped(line.replace(/^\s*[`~]+/, "").trim());
  return language ? `${language}:\n${FENCE}` : FENCE;
};

/** Whether a line ends code: as many of the same characters as have opened it, or more, and nothing else. */
const closes = (fence: string, line: string) =>
  line.trim().startsWith(/^(?:`+|~+)/.exec(fence)?.[0] ?? "") && /^\s*(?:`+|~+)\s*$/.test(line);

/** A fence within code would end it. */
const inFence = (line: string) => fitting(line, (text) => escaped(text).replaceAll(FENCE, "`\u200b`\u200b`"));

const linesFor = (line: string) =>
  fitting(line, (text) =>
    text
      .split(/(`{1,3}[^`]{1,500}`{1,3})/)
      .map((each, at) => (at % 2 ? escaped(each) : inline(each)))
      .join("")
      .replace(/^#{1,6} +([^*]*)$/, "*$1*")
      .replace(/^#{1,6} +/, ""),
  );

/** Converts a line, or its pieces if that is too long for a part. */
function fitting(line: string, convert: (text: string) => string): string[] {
  const whole = convert(line);
  return whole.length < MOST_TEXT - 20 ? [whole] : pieces(line, PIECE / 2).map(convert);
}

const BOLD = "\u0001";

/** Each pattern is bounded, so that no text takes long. */
function inline(text: string): string {
  return escaped(text)
    .replace(/!?\[([^\]]{0,500})\]\(([^)]{0,2000})\)/g, (_, name, address) =>
      name ? `${name} (${address})` : address,
    )
    .replace(
      /\*\*(?=\S)(.{1,500}?)(?<=\S)\*\*|__(?=\S)(.{1,500}?)(?<=\S)__/g,
      (_, a, b) => `${BOLD}${a ?? b}${BOLD}`,
    )
    .replace(/(?<![\w*])\*(?=\S)([^*]{1,500}?)(?<=\S)\*(?![\w*])/g, "_$1_")
    .replace(/~~(?=\S)(.{1,500}?)(?<=\S)~~/g, "~$1~")
    .replace(/^(\s*)[-*+] /, "$1• ")
    .replaceAll(BOLD, "*");
}
