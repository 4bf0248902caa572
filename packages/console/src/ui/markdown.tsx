import type { ReactNode } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { OutsideLink } from "./outside-link.tsx";

/** The page already has a heading. */
const LOWER = { h1: "h2", h2: "h3", h3: "h4", h4: "h5", h5: "h6" } as const;

interface Props {
  children: string;
  /** The title above the text: a first heading with the same words is omitted. */
  title?: string;
}

/** Untrusted Markdown: without HTML, and without pictures of other hosts. */
export function Markdown({ children, title = "" }: Props) {
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, [withoutTitle, title]]}
        components={{ ...LOWER, input: TaskBox, a: MarkdownLink, img: ({ alt }) => <em>{alt}</em> }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}

/** Links within the text stay links; of addresses only web addresses do. */
function MarkdownLink({ href = "", children }: { href?: string | undefined; children?: ReactNode }) {
  return href.startsWith("#") ? (
    <a href={href}>{children}</a>
  ) : (
    <OutsideLink to={href}>{children}</OutsideLink>
  );
}

/** A read-only task box, with its state for screen readers. */
function TaskBox({ checked }: { checked?: boolean | undefined }) {
  return <input type="checkbox" checked={checked} disabled readOnly aria-label={checked ? "Done" : "Open"} />;
}

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

function withoutTitle(title: string) {
  return ({ children = [] }: Node) => {
    const [first] = children;
    if (first?.type === "heading" && wordsOf(textOf(first)) === wordsOf(title)) children.shift();
  };
}

function textOf({ value = "", children = [] }: Node): string {
  return value + children.map(textOf).join("");
}

/** Titles are stored without Markdown syntax. */
const wordsOf = (text: string) =>
  text
    .replace(/[*_`~]/g, "")
    .replace(/\s+/g, " ")
    .trim();
