const LONGEST_TITLE = 200;
/** Some of what is looked for in a line takes the square of its length. */
const LONGEST_LINE = 400;
const LONGEST_SLUG = 80;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(```|~~~)/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What stands in an output's place in the path of another operation, `POST /outputs/search`. */
const RESERVED = "search";

/** What a text is called that has no title: its first heading, else its first line (spec: Outputs). */
export function titleOf(text: string): string {
  const found = headingOf(text) ?? firstLineOf(text);
  const title = found?.slice(0, LONGEST_TITLE).replace(/[\ud800-\udbff]$/, "");
  return title?.toWellFormed() || "Untitled";
}

function headingOf(text: string): string | undefined {
  let fenced = false;
  let before = "";
  for (const line of linesOf(text)) {
    if (FENCE.test(line)) fenced = !fenced;
    const heading = HEADING.exec(line)?.[1] ?? (UNDERLINE.test(line) ? before : "");
    const title = fenced || !heading ? "" : plain(heading);
    if (title) return title;
    before = fenced ? "" : line;
  }
  return undefined;
}

function firstLineOf(text: string): string | undefined {
  for (const line of linesOf(text)) {
    const words = plain(line);
    if (words) return words;
  }
  return undefined;
}

/** The lines of a text, of several empty ones one. Of a long one only its beginning. */
function* linesOf(text: string): Generator<string> {
  for (const [part] of text.matchAll(/[\r\n]+|[^\r\n]+/g)) {
    if (part[0] !== "\r" && part[0] !== "\n") yield part.slice(0, LONGEST_LINE);
    else if (part.length > 1 && part !== "\r\n") yield "";
  }
}

/** A line without Markdown's marks; empty when no letter, digit or emoji is in it. */
function plain(line: string): string {
  const text = line
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s>#*+-]+|[`*]|__/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text) ? text : "";
}

/** The words of a title as they can stand in a path. Never what would be taken for an id or another operation. */
export function slugOf(title: string): string {
  const folded = title.normalize("NFKC").toLowerCase();
  const slug = (folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join("-").slice(0, LONGEST_SLUG).toWellFormed();
  const trimmed = slug.replace(/\ufffd|-$/g, "");
  if (!trimmed) return "output";
  return UUID.test(trimmed) || trimmed === RESERVED ? `output-${trimmed}` : trimmed;
}

/** Slugs to try in turn: short ones first, then one that nobody else can have. */
export function slugsFor(title: string, id: string): string[] {
  const slug = slugOf(title);
  return [slug, `${slug}-2`, `${slug}-3`, `${slug}-${id.slice(-12)}`];
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
