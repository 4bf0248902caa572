import { isValidElement, memo, type ReactNode } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

/** More than a list shows of a text. */
const MAX_LENGTH = 500;

/** Returns the beginning of a Markdown text as one line without syntax. */
export function plain(markdown: string): string {
  const shown = ReactMarkdown({ children: markdown.slice(0, MAX_LENGTH), remarkPlugins: [remarkGfm] });
  return wordsOf(shown).replace(/\s+/g, " ").trim();
}

/** The same as a component, parsed only once. */
export const Plain = memo(({ children }: { children: string }) => plain(children));

/** Separates the points of a list and the cells of a table. */
const BEFORE: Record<string, string> = { li: "• ", td: " ", th: " " };

function wordsOf(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(wordsOf).join("");
  if (!isValidElement<{ alt?: string; children?: ReactNode }>(node))
    return typeof node === "string" ? node : "";
  const { alt = "", children } = node.props;
  return (BEFORE[String(node.type)] ?? "") + alt + wordsOf(children);
}
