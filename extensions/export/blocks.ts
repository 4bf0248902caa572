import { DomUtils, parseDocument } from "htmlparser2";
import { marked, type Token, type Tokens, type TokensList } from "marked";
import { htmlText } from "../../lib/text/html.ts";
import { isWithinLine } from "../../lib/text/html-elements.ts";

/** A part of a line in one style. */
export interface Run {
  text: string;
  bold?: boolean;
  italic?: boolean;
  code?: boolean;
  strike?: boolean;
  href?: string;
}

/** A list: all of its items refer to the same object. */
export interface List {
  /** Nesting depth, from 0. */
  depth: number;
  /** The numbers of its first and last item; null for unordered lists. */
  numbers: { from: number; to: number } | null;
}

/**
 * A block's position: its depth in lists and quotations, in lists alone, and the depth of the innermost quotation; 0
 * without one.
 */
interface Place {
  indent: number;
  lists: number;
  quoted: number;
}

type Align = "left" | "center" | "right" | null;

/** The blocks of a document, from top to bottom. */
export type Block =
  | { kind: "heading"; depth: number; runs: Run[] }
  | ({ kind: "paragraph"; runs: Run[]; item?: Item } & Place)
  | ({ kind: "code"; text: string } & Place)
  | { kind: "table"; rows: Run[][][]; align: Align[] }
  | { kind: "rule" };

/** Marks the first paragraph of a list item, with its marker. */
interface Item {
  list: List;
  marker: string;
}

const TOP: Place = { indent: 0, lists: 0, quoted: 0 };

/** Converts Markdown parsed by `marked` to blocks. Of raw HTML text, lines and tables are kept. */
export function toBlocks(tokens: TokensList | Token[], place = TOP): Block[] {
  return tokens.flatMap((token) => toBlock(token as Tokens.Generic, place));
}

function toBlock(token: Tokens.Generic, place: Place): Block[] {
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", depth: token.depth, runs: toRuns(token.tokens) }];
    case "paragraph":
    case "text":
      return [{ kind: "paragraph", runs: toRuns(token.tokens ?? [token]), ...place }];
    case "code":
      return [{ kind: "code", text: token.text, ...place }];
    case "blockquote":
      return toBlocks(token.tokens ?? [], {
        ...place,
        indent: place.indent + 1,
        quoted: place.indent + 1,
      });
    case "list":
      return convertList(token as Tokens.List, place);
    case "table":
      return [{ kind: "table", rows: convertTable(token as Tokens.Table), align: token.align }];
    case "hr":
      return [{ kind: "rule" }];
    case "html":
      return htmlBlocks(token.text, place);
    default:
      return [];
  }
}

/** Reads a block of raw HTML as Markdown, which has no such blocks. */
function htmlBlocks(html: string, place: Place): Block[] {
  const tokens = marked.lexer(htmlText(html).replaceAll("<", "&lt;"), { gfm: true, breaks: true });
  return toBlocks(tokens, place);
}

function convertList({ ordered, start, items }: Tokens.List, place: Place): Block[] {
  const from = Number(start);
  const numbers = ordered ? { from, to: from + items.length - 1 } : null;
  const list: List = { depth: place.lists, numbers };
  const own = { ...place, indent: place.indent + 1, lists: place.lists + 1 };
  return items.flatMap((item, at) => convertItem(item, { list, marker: makeMarker(list, item, at) }, own));
}

function makeMarker({ numbers }: List, { task, checked }: Tokens.ListItem, at: number): string {
  if (numbers) return `${numbers.from + at}.`;
  return task ? boxOf(checked) : "•";
}

const boxOf = (checked: boolean | undefined) => (checked ? "☑" : "☐");

/** The first paragraph of an item follows its marker; a numbered task has its box after the number. */
function convertItem({ tokens, task, checked }: Tokens.ListItem, item: Item, own: Place): Block[] {
  const [first, ...rest] = toBlocks(tokens, own);
  const box = task && item.list.numbers ? [{ text: `${boxOf(checked)} ` }] : [];
  if (first?.kind === "paragraph" && !first.item)
    return [{ ...first, runs: [...box, ...first.runs], item }, ...rest];
  const empty: Block = { kind: "paragraph", runs: box, ...own, item };
  return first ? [empty, first, ...rest] : [empty];
}

function convertTable({ header, rows }: Tokens.Table): Run[][][] {
  return [header, ...rows].map((row, at) =>
    row.map(({ tokens }) => toRuns(tokens).map((run) => (at === 0 ? { ...run, bold: true } : run))),
  );
}

type Style = Omit<Run, "text">;

/** Converts inline tokens to runs. */
function toRuns(tokens: Token[] = [], style: Style = {}): Run[] {
  return (tokens as Tokens.Generic[]).flatMap((token) => {
    switch (token.type) {
      case "strong":
        return toRuns(token.tokens, { ...style, bold: true });
      case "em":
        return toRuns(token.tokens, { ...style, italic: true });
      case "del":
        return toRuns(token.tokens, { ...style, strike: true });
      case "link":
        return toRuns(token.tokens, isSafe(token.href) ? { ...style, href: token.href } : style);
      case "image":
        // Images are not fetched: shows their text and address.
        return toRuns(
          [{ type: "text", raw: "", text: token.text || "picture" }],
          isSafe(token.href) ? { ...style, href: token.href } : style,
        );
      case "codespan":
        return [{ text: token.text, ...style, code: true }];
      case "br":
        return [{ text: "\n", ...style }];
      case "html":
        return endsLine(token.text) ? [{ text: "\n", ...style }] : [];
      default:
        if (token.tokens) return toRuns(token.tokens, style);
        // A line break in the source does not end the line.
        return [{ text: readEntities((token.text ?? "").replaceAll("\n", " ")), ...style }];
    }
  });
}

const isSafe = (href: string) => /^(https?:|mailto:)/i.test(href);

/** Whether a tag within a line ends it. */
function endsLine(tag: string): boolean {
  const name = /^<\/?([a-z][\w-]*)/i.exec(tag)?.[1]?.toLowerCase();
  return name !== undefined && (name === "br" || !isWithinLine(name));
}

function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|[a-z]\w{1,31});/gi, (whole, decimal, hex) => {
    if (!decimal && !hex) return DomUtils.textContent(parseDocument(whole));
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16);
    return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
  });
}

/** Returns the widths of a table's columns: as wanted if they fit; otherwise the wide ones share the rest. */
export function sharedWidths(wanted: readonly number[], room: number): number[] {
  let left = room;
  let open = [...wanted.keys()];
  for (;;) {
    const share = left / open.length;
    const narrow = open.filter((n) => (wanted[n] as number) <= share);
    for (const n of narrow) left -= wanted[n] as number;
    open = open.filter((n) => !narrow.includes(n));
    if (open.length === 0) return [...wanted];
    if (narrow.length === 0) return wanted.map((each, n) => (open.includes(n) ? share : each));
  }
}
