import { Quote } from "lucide-react";
import { Link, useParams } from "react-router";
import type { MemoryWithUsage } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Card, Empty, Fact, Facts, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Json, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { Actions } from "./memory-actions.tsx";
import { MemoryGraph } from "./memory-graph.tsx";
import { percent, ScopeBadge, StatusBadge, Tags } from "./words.tsx";
import "./memories.css";

const ABOVE = [{ to: "/memories", label: "Memories" }];

/** One memory: its content, source and relationships. */
export function MemoryPage() {
  const { id = "" } = useParams();
  const loaded = useLoad((signal) => api.memories.get({ id }, { signal }), [id]);
  const memory = loaded.data;
  return (
    <Page
      title={memory?.title ?? "Memory"}
      above={ABOVE}
      state={memory && <StatusBadge memory={memory} />}
      actions={memory && <Actions memory={memory} reload={loaded.reload} />}
    >
      <Load of={loaded} lines={8}>
        {(data) => <Parts memory={data} />}
      </Load>
    </Page>
  );
}

function Parts({ memory }: { memory: MemoryWithUsage }) {
  return (
    <Tabs
      label="Memory"
      tabs={[
        { key: "content", label: "Content", content: <Content memory={memory} /> },
        { key: "relationships", label: "Relationships", content: <MemoryGraph start={memory} /> },
        { key: "origin", label: "Where it comes from", content: <Origin memory={memory} /> },
      ]}
    />
  );
}

function Content({ memory }: { memory: MemoryWithUsage }) {
  return (
    <div className="sides with-facts">
      <Card>
        <Markdown>{memory.content}</Markdown>
      </Card>
      <Card>
        <Facts>
          <Fact name="Scope">
            <ScopeBadge scope={memory.scope} />
          </Fact>
          <Fact name="Type">{memory.type}</Fact>
          <Fact name="Confidence">{percent(memory.confidence)}</Fact>
          <Fact name="Importance">{percent(memory.importance)}</Fact>
          <Fact name="Trust">{percent(memory.usage.trust)}</Fact>
          <Fact name="Cited in 30 days">{number(memory.usage.cite_count_30d)}</Fact>
          {memory.usage.last_cited_at && (
            <Fact name="Last cited">
              <Time at={memory.usage.last_cited_at} />
            </Fact>
          )}
          <Fact name="Owner">
            <Who id={memory.agent_id ?? memory.user_id ?? ""} />
          </Fact>
          {memory.team_id && (
            <Fact name="Team">
              <Who id={memory.team_id} />
            </Fact>
          )}
          {memory.project_id && <Fact name="Project">{memory.project_id}</Fact>}
          {memory.tags.length > 0 && (
            <Fact name="Tags">
              <Tags tags={memory.tags} />
            </Fact>
          )}
          <Fact name="Made">
            <Time at={memory.created_at} />
          </Fact>
          <Fact name="Changed">
            <Time at={memory.updated_at} />
          </Fact>
          {memory.freshness_date && (
            <Fact name="Holds as of">
              <Time at={memory.freshness_date} />
            </Fact>
          )}
          {memory.expires_at && (
            <Fact name="Expires">
              <Time at={memory.expires_at} />
            </Fact>
          )}
          {memory.superseded_by && (
            <Fact name="Replaced by">
              <Link to={`/memories/${memory.superseded_by}`}>the newer one</Link>
            </Fact>
          )}
          <Fact name="Id">
            <Id>{memory.id}</Id>
          </Fact>
        </Facts>
      </Card>
    </div>
  );
}

function Origin({ memory }: { memory: MemoryWithUsage }) {
  const loaded = useLoad(
    async (signal) => {
      const [lineage, cited] = await Promise.all([
        api.memories.lineage({ id: memory.id }, { signal }),
        api.memories.citations({ id: memory.id }, { signal }),
      ]);
      return { ...lineage, citations: cited.citations };
    },
    [memory.id],
  );
  const sources = [memory.source_type, memory.source_id].filter(Boolean).join(" · ");
  return (
    <Load of={loaded}>
      {({ citations, merge_lineage, supersedes_target }) => (
        <div className="stack">
          {(sources ||
            memory.source_url ||
            memory.source_event_id ||
            supersedes_target ||
            merge_lineage.length > 0) && (
            <Card title="Source">
              <Facts>
                {sources && <Fact name="Source">{sources}</Fact>}
                {memory.source_url && (
                  <Fact name="Address">
                    <OutsideLink to={memory.source_url} />
                  </Fact>
                )}
                {memory.source_event_id && <Fact name="Event">{memory.source_event_id}</Fact>}
                {supersedes_target && (
                  <Fact name="Replaces">
                    <Link to={`/memories/${supersedes_target}`}>{supersedes_target}</Link>
                  </Fact>
                )}
                {merge_lineage.map((merge) => (
                  <Fact key={merge.loser_memory_id} name={`Merged into it (${merge.origin})`}>
                    <Link to={`/memories/${merge.loser_memory_id}`}>{merge.loser_memory_id}</Link>
                  </Fact>
                ))}
              </Facts>
            </Card>
          )}
          {citations.length === 0 ? (
            <Empty icon={Quote} title="It rests on no document">
              A memory made from a document's chunk (<code>source_type: document_chunk</code>) shows the
              passage here.
            </Empty>
          ) : (
            citations.map((citation) => (
              <Card
                key={`${citation.document_id} ${citation.snippet}`}
                title={<Link to={`/documents/${citation.document_id}`}>{citation.document_name}</Link>}
              >
                <blockquote className="citation">{citation.snippet}</blockquote>
                <p className="muted small">
                  {citation.page && `Page ${citation.page} · `}
                  {citation.freshness.stale
                    ? "The document was replaced or deleted since."
                    : "The document is as it was."}
                </p>
              </Card>
            ))
          )}
          {Object.keys(memory.metadata).length > 0 && (
            <Card title="Metadata">
              <Json value={memory.metadata} label="Metadata" />
            </Card>
          )}
        </div>
      )}
    </Load>
  );
}
