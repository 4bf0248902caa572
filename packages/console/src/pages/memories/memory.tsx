import { Link, useParams } from "react-router";
import type {
  MemoriesCitationsResult,
  MemoriesLineageResult,
  MemoryWithUsage,
} from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useLoad } from "../../data/use-load.ts";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Quote } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Card, Empty, Facts } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Json, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";
import { Actions } from "./memory-actions.tsx";
import { MemoryGraph } from "./memory-graph.tsx";
import { isStated, percent, ScopeBadge, StatusBadge, Tags } from "./words.tsx";
import "./memories.css";

/** One memory: its content, source and relationships. */
export function MemoryPage() {
  const { id = "" } = useParams();
  const loaded = useFollowed(["memory", "merge"], (signal) => api.memories.get({ id }, { signal }), [id]);
  return (
    <DetailPage
      of={loaded}
      kind="Memory"
      above={{ "/memories": "Memories" }}
      titleOf={({ title }) => title}
      stateOf={(memory) => <StatusBadge memory={memory} />}
      actionsOf={(memory) => <Actions memory={memory} reload={loaded.reload} />}
      lines={8}
    >
      {(memory) => (
        <Tabs
          label="Memory"
          tabs={[
            { key: "content", label: "Content", content: <Content memory={memory} /> },
            { key: "relationships", label: "Relationships", content: <MemoryGraph start={memory} /> },
            { key: "origin", label: "Origin", content: <Origin memory={memory} /> },
          ]}
        />
      )}
    </DetailPage>
  );
}

function Content({ memory }: { memory: MemoryWithUsage }) {
  const { usage } = memory;
  return (
    <div className="sides with-facts">
      <Card>
        <Markdown>{memory.content}</Markdown>
      </Card>
      <Card>
        <Facts
          of={{
            Scope: <ScopeBadge scope={memory.scope} />,
            Type: capitalised(memory.type),
            Confidence: isStated(memory) && percent(memory.confidence),
            Importance: percent(memory.importance),
            Trust: percent(usage.trust),
            "Cited in 30 days": number(usage.cite_count_30d),
            "Last cited": usage.last_cited_at && <Time at={usage.last_cited_at} />,
            Owner: <Who id={memory.agent_id ?? memory.user_id ?? ""} />,
            Team: memory.team_id && <Who id={memory.team_id} />,
            Project: memory.project_id,
            Tags: memory.tags.length > 0 && <Tags tags={memory.tags} />,
            Created: <Time at={memory.created_at} />,
            Updated: <Time at={memory.updated_at} />,
            "Fresh as of": memory.freshness_date && <Time at={memory.freshness_date} />,
            Expires: memory.expires_at && <Time at={memory.expires_at} />,
            "Superseded by": memory.superseded_by && (
              <Link to={`/memories/${memory.superseded_by}`}>View newer memory</Link>
            ),
            ID: <Id>{memory.id}</Id>,
          }}
        />
      </Card>
    </div>
  );
}

type Lineage = MemoriesLineageResult & Pick<MemoriesCitationsResult, "citations">;

function Origin({ memory }: { memory: MemoryWithUsage }) {
  const loaded = useLoad(
    async (signal): Promise<Lineage> => {
      const [lineage, cited] = await Promise.all([
        api.memories.lineage({ id: memory.id }, { signal }),
        api.memories.citations({ id: memory.id }, { signal }),
      ]);
      return { ...lineage, citations: cited.citations };
    },
    [memory.id, memory.updated_at],
  );
  return (
    <Load of={loaded}>
      {(lineage) => (
        <div className="stack">
          <Source memory={memory} lineage={lineage} />
          <Citations citations={lineage.citations} />
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

function Source({ memory, lineage }: { memory: MemoryWithUsage; lineage: Lineage }) {
  const { merge_lineage, supersedes_target } = lineage;
  const mergedBy = Map.groupBy(merge_lineage, ({ origin }) => `Merged from (${origin})`);
  const facts = {
    Source: [memory.source_type, memory.source_id].filter(Boolean).join(" · "),
    URL: memory.source_url && <OutsideLink to={memory.source_url} />,
    Event: memory.source_event_id,
    Supersedes: supersedes_target && <MemoryLink id={supersedes_target} />,
    ...Object.fromEntries(
      [...mergedBy].map(([name, merges]) => [
        name,
        merges.map(({ loser_memory_id: id }) => <MemoryLink key={id} id={id} />),
      ]),
    ),
  };
  if (!Object.values(facts).some(Boolean)) return null;
  return (
    <Card title="Source">
      <Facts of={facts} />
    </Card>
  );
}

const MemoryLink = ({ id }: { id: string }) => (
  <div>
    <Link to={`/memories/${id}`}>{id}</Link>
  </div>
);

function Citations({ citations }: Pick<Lineage, "citations">) {
  if (citations.length === 0)
    return (
      <Empty icon={Quote} title="No citations">
        A memory created from a document chunk (<code>source_type: document_chunk</code>) shows the cited
        passage here.
      </Empty>
    );
  return citations.map(({ document_id, document_name, snippet, page, freshness }) => (
    <Card
      key={`${document_id} ${snippet}`}
      title={<Link to={`/documents/${document_id}`}>{document_name}</Link>}
    >
      <blockquote className="citation">{snippet}</blockquote>
      <p className="muted small">
        {page && `Page ${page} · `}
        {freshness.stale
          ? "The document has since been superseded or deleted."
          : "The document is unchanged."}
      </p>
    </Card>
  ));
}
