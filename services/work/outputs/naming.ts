import { isUuid } from "../../../lib/ids.ts";

const LONGEST_TITLE = 200;
/** Some of the patterns take time quadratic in a line's length. */
const LONGEST_LINE = 400;
const LONGEST_SLUG = 80;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(```|~~~)/;
/** Would be taken for another operation's path, `POST /outputs/search`. */
const RESERVED = "search";

/** Front matter ends within this many characters. */
const LONGEST_FRONT_MATTER = 65_536;
const FRONT_MATTER_LINE =
  /^(?:[ \t]*(?:#.*)?|[ \t]+\S.*|- .*|[\p{L}\p{N}_."'-][\p{L}\p{N}_."' -]*[:=](?:[ \t].*)?)$/u;

/** Returns a text without its byte order mark and the settings before it (YAML or TOML), which are no text. */
export function withoutFrontMatter(content: string): string {
  const text = content.replace(/^\ufeff/, "");
  const [opening, mark] = /^(---|\+\+\+)[ \t]*(?:\r\n|\n|\r)(?=\S)/.exec(text) ?? [];
  if (!opening || !mark) return text;
  const rest = text.slice(opening.length, LONGEST_FRONT_MATTER);
  const closing = (
    mark === "---" ? /^(?:---|\.\.\.)[ \t]*$(?:\r\n|\n|\r)?/m : /^\+\+\+[ \t]*$(?:\r\n|\n|\r)?/m
  ).exec(rest);
  // Between two rules there is text.
  const lines = closing ? rest.slice(0, closing.index).split(/\r\n|\n|\r/) : [];
  if (!closing || !lines.every((line) => FRONT_MATTER_LINE.test(line))) return text;
  return text.slice(opening.length + closing.index + closing[0].length);
}

/** Returns the title of a text without one: its first heading, else its first line (spec: Outputs). */
export function deriveTitle(content: string): string {
  const text = withoutFrontMatter(content);
  const line = findHeading(text) ?? findFirstLine(text);
  const title = line?.slice(0, LONGEST_TITLE).replace(/[\ud800-\udbff]$/, "");
  return title?.toWellFormed() || "Untitled";
}

function findHeading(text: string): string | undefined {
  let fenced = false;
  let before = "";
  for (const line of splitLines(text)) {
    if (FENCE.test(line)) fenced = !fenced;
    const heading = HEADING.exec(line)?.[1] ?? (UNDERLINE.test(line) ? before : "");
    const title = fenced || !heading ? "" : plain(heading);
    if (title) return title;
    before = fenced ? "" : line;
  }
  return undefined;
}

function findFirstLine(text: string): string | undefined {
  for (const line of splitLines(text)) {
    const words = plain(line);
    if (words) return words;
  }
  return undefined;
}

/** Yields the lines of a text, with consecutive empty ones merged and long ones cut. */
function* splitLines(text: string): Generator<string> {
  for (const [part] of text.matchAll(/[\r\n]+|[^\r\n]+/g)) {
    if (part[0] !== "\r" && part[0] !== "\n") yield part.slice(0, LONGEST_LINE);
    else if (part.length > 1 && part !== "\r\n") yield "";
  }
}

/** Returns a line without Markdown marks; empty if it has no letter, digit or emoji. */
function plain(line: string): string {
  const text = line
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s>#*+-]+|[`*]|__/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text) ? text : "";
}

/** Converts a title to a slug that is neither an id nor another operation. */
export function toSlug(title: string): string {
  const folded = title.normalize("NFKC").toLowerCase();
  const slug = (folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join("-").slice(0, LONGEST_SLUG).toWellFormed();
  const trimmed = slug.replace(/\ufffd|-$/g, "");
  if (!trimmed) return "output";
  return isUuid(trimmed) || trimmed === RESERVED ? `output-${trimmed}` : trimmed;
}

/** Returns slugs to try in turn: short ones first, then a unique one. */
export function slugsFor(title: string, id: string): string[] {
  const slug = toSlug(title);
  return [slug, `${slug}-2`, `${slug}-3`, `${slug}-${id.slice(-12)}`];
}
