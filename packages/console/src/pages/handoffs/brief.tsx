import { Markdown } from "../../ui/markdown.tsx";
import { Card } from "../../ui/page.tsx";
import "./handoffs.css";

/** A brief for agents. What it quotes as data is prose: it wraps. */
export function Brief({ title, children }: { title?: string; children: string }) {
  return (
    <Card>
      <div className="brief">
        <Markdown title={title}>{children}</Markdown>
      </div>
    </Card>
  );
}
