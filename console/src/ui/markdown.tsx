import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

/** Markdown of others: no HTML of theirs, no pictures of other hosts. */
export function Markdown({ children }: { children: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        components={{ input: TaskBox, img: ({ alt }) => <em>{alt}</em> }}
      >
        {children}
      </ReactMarkdown>
    </div>
  );
}

/** The box of a task, which nobody can tick here: what it says is said to screen readers too. */
function TaskBox({ checked }: { checked?: boolean | undefined }) {
  return <input type="checkbox" checked={checked} disabled readOnly aria-label={checked ? "Done" : "Open"} />;
}
