const LONGEST_TITLE = 200;
const LONGEST_SLUG = 80;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(```|~~~)/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a text is called that has no title: its first heading, else its first line (spec: Outputs). */
export function titleOf(text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  const found = headingOf(lines) ?? lines.map(plain).find(Boolean);
  return found?.slice(0, LONGEST_TITLE).toWellFormed() || "Untitled";
}

function headingOf(lines: readonly string[]): string | undefined {
  let fenced = false;
  for (const [at, line] of lines.entries()) {
    if (FENCE.test(line)) fenced = !fenced;
    if (fenced) continue;
    const heading = HEADING.exec(line)?.[1] ?? (UNDERLINE.test(lines[at + 1] ?? "") ? line : undefined);
    const title = heading === undefined ? "" : plain(heading);
    if (title) return title;
  }
  return undefined;
}

/** A line without Markdown's marks; empty when no letter or digit is in it. */
function plain(line: string): string {
  const text = line
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s>#*+-]+|[`*]|__/g, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : "";
}

/** The words of a title as they can stand in a path. Never what could be taken for an id. */
export function slugOf(title: string): string {
  const folded = title.normalize("NFKC").toLowerCase();
  const slug = (folded.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join("-").slice(0, LONGEST_SLUG).toWellFormed();
  const trimmed = slug.replace(/\ufffd|-$/g, "");
  if (!trimmed) return "output";
  return UUID.test(trimmed) ? `output-${trimmed}` : trimmed;
}

/** Slugs to try in turn: short ones first, then one that nobody else can have. */
export function slugsFor(title: string, id: string): string[] {
  const slug = slugOf(title);
  return [slug, `${slug}-2`, `${slug}-3`, `${slug}-${id.slice(-12)}`];
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
