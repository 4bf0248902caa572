import { isValidElement, memo, type ReactNode } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

/** More than a list shows of a text. */
const MOST = 500;

/** What the beginning of a Markdown text says, as one line without its marks. */
export function plain(markdown: string): string {
  const shown = ReactMarkdown({ children: markdown.slice(0, MOST), remarkPlugins: [remarkGfm] });
  return wordsOf(shown).replace(/\s+/g, " ").trim();
}

/** The same in the page, read once however often its list is drawn. */
export const Plain = memo(({ children }: { children: string }) => plain(children));

/** Without them the points of a list, and the cells of a table, would read as one. */
const BEFORE: Record<string, string> = { li: "• ", td: " ", th: " " };

function wordsOf(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(wordsOf).join("");
  if (!isValidElement<{ alt?: string; children?: ReactNode }>(node))
    return typeof node === "string" ? node : "";
  const { alt = "", children } = node.props;
  return (BEFORE[String(node.type)] ?? "") + alt + wordsOf(children);
}
