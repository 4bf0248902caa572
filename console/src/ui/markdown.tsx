import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";

/** Markdown of others: no HTML of theirs, no pictures of other hosts. */
export function Markdown({ children }: { children: string }) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={{ img: ({ alt }) => <em>{alt}</em> }}>
        {children}
      </ReactMarkdown>
    </div>
  );
}
