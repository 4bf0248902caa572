import type { Token, Tokens, TokensList } from "marked";

/** A piece of a line in one style. */
export interface Run {
  text: string;
  bold?: boolean;
  italic?: boolean;
  code?: boolean;
  strike?: boolean;
  href?: string;
}

/** What a document is made of, one below the other. `indent`: how deep in lists and quotations. */
export type Block =
  | { kind: "heading"; depth: number; runs: Run[] }
  | { kind: "paragraph"; runs: Run[]; indent: number; marker?: string }
  | { kind: "code"; text: string; indent: number }
  | { kind: "table"; rows: Run[][][] }
  | { kind: "rule" };

/** The blocks of Markdown that was read by `marked`. Raw HTML is left out but for its words. */
export function blocksOf(tokens: TokensList | Token[], indent = 0): Block[] {
  return tokens.flatMap((token) => blockOf(token as Tokens.Generic, indent));
}

function blockOf(token: Tokens.Generic, indent: number): Block[] {
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", depth: token.depth, runs: runsOf(token.tokens) }];
    case "paragraph":
    case "text":
      return [{ kind: "paragraph", runs: runsOf(token.tokens ?? [token]), indent }];
    case "code":
      return [{ kind: "code", text: printable(token.text), indent }];
    case "blockquote":
      return blocksOf(token.tokens ?? [], indent + 1);
    case "list":
      return (token as Tokens.List).items.flatMap((item, at) => itemOf(item, markerOf(token, at), indent));
    case "table":
      return [{ kind: "table", rows: tableOf(token as Tokens.Table) }];
    case "hr":
      return [{ kind: "rule" }];
    case "html":
      return paragraphOf(token.text, indent);
    default:
      return [];
  }
}

function paragraphOf(html: string, indent: number): Block[] {
  const text = withoutTags(html).trim();
  return text ? [{ kind: "paragraph", runs: [{ text }], indent }] : [];
}

function markerOf(list: Tokens.Generic, at: number): string {
  return list.ordered ? `${(list.start || 1) + at}.` : "•";
}

/** The first paragraph of an item stands beside its marker. */
function itemOf({ tokens, task, checked }: Tokens.ListItem, bullet: string, indent: number): Block[] {
  const marker = task ? (checked ? "☑" : "☐") : bullet;
  const [first, ...rest] = blocksOf(tokens, indent + 1);
  if (first?.kind === "paragraph") return [{ ...first, marker }, ...rest];
  const empty: Block = { kind: "paragraph", runs: [], indent: indent + 1, marker };
  return first ? [empty, first, ...rest] : [empty];
}

function tableOf({ header, rows }: Tokens.Table): Run[][][] {
  return [header, ...rows].map((row, at) =>
    row.map(({ tokens }) => runsOf(tokens).map((run) => (at === 0 ? { ...run, bold: true } : run))),
  );
}

type Style = Omit<Run, "text">;

/** The pieces of a line. */
function runsOf(tokens: Token[] = [], style: Style = {}): Run[] {
  return (tokens as Tokens.Generic[]).flatMap((token) => {
    switch (token.type) {
      case "strong":
        return runsOf(token.tokens, { ...style, bold: true });
      case "em":
        return runsOf(token.tokens, { ...style, italic: true });
      case "del":
        return runsOf(token.tokens, { ...style, strike: true });
      case "link":
        return runsOf(token.tokens, isSafe(token.href) ? { ...style, href: token.href } : style);
      case "image":
        // Not fetched: what it shows is said, and where it is.
        return runsOf(
          [{ type: "text", raw: "", text: token.text || "picture" }],
          isSafe(token.href) ? { ...style, href: token.href } : style,
        );
      case "codespan":
        return [{ text: printable(token.text), ...style, code: true }];
      case "br":
        return [{ text: "\n", ...style }];
      case "html":
        return withoutTags(token.text) ? [{ text: withoutTags(token.text), ...style }] : [];
      default:
        if (token.tokens) return runsOf(token.tokens, style);
        // A line that ends in the source goes on here.
        return [{ text: readEntities(printable(token.text ?? "").replaceAll("\n", " ")), ...style }];
    }
  });
}

const isSafe = (href: string) => /^(https?:|mailto:)/i.test(href);

const withoutTags = (html: string) => readEntities(printable(html.replace(/<!--[\s\S]*?-->|<[^>]*>/g, "")));

/** Without characters that no XML can hold. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

function readEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name) return NAMED[name.toLowerCase()] ?? whole;
    const code = Number.parseInt(decimal ?? hex, decimal ? 10 : 16);
    return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}
