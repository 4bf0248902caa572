import type { ReactNode } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { OutsideLink } from "./outside-link.tsx";

/** The page has a heading already. */
const LOWER = { h1: "h2", h2: "h3", h3: "h4", h4: "h5", h5: "h6" } as const;

interface Props {
  children: string;
  /** What stands above the text: a first heading that says the same is left out. */
  title?: string;
}

/** Markdown of others: no HTML of theirs, no pictures of other hosts. */
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

/** Places within the text stay links; of addresses only those of the web do. */
function MarkdownLink({ href = "", children }: { href?: string | undefined; children?: ReactNode }) {
  return href.startsWith("#") ? (
    <a href={href}>{children}</a>
  ) : (
    <OutsideLink to={href}>{children}</OutsideLink>
  );
}

/** The box of a task, which nobody can tick here: what it says is said to screen readers too. */
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

/** Titles are kept without Markdown's marks. */
const wordsOf = (text: string) =>
  text
    .replace(/[*_`~]/g, "")
    .replace(/\s+/g, " ")
    .trim();
