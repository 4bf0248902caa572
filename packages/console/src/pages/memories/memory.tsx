import { useState } from "react";
import { Link, useParams } from "react-router";
import type {
  MemoriesCitationsResult,
  MemoriesLineageResult,
  MemoryWithUsage,
} from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, number as formatted } from "../../data/format.ts";
import { useIsOwn } from "../../data/names.ts";
import { useLoad, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { findTeams } from "../../ui/combo.tsx";
import type { Option } from "../../ui/field.tsx";
import { area, combo, number, select, useForm } from "../../ui/form.tsx";
import { ActButton, FormDialog, type SavingProps, useAct } from "../../ui/form-dialog.tsx";
import { MoreHorizontal, Pencil, Quote } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Menu } from "../../ui/menu.tsx";
import { OutsideLink } from "../../ui/outside-link.tsx";
import { Card, Empty, FactsCard } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useSaving } from "../../ui/task.tsx";
import { Id, Json, Time, Who } from "../../ui/text.tsx";
import { MemoryGraph, madeHere } from "./memory-graph.tsx";
import { Versions } from "./versions.tsx";
import { findMemories, isStated, percent, ScopeBadge, StatusBadge, TAGS, Tags, TITLE } from "./words.tsx";
import "./memories.css";

export function MemoryPage() {
  const { id = "" } = useParams();
  return (
    <DetailPage
      of={useRead(api.memories.get, { id }, ["memory", "merge"])}
      kind="Memory"
      above={{ "/memories": "Memories" }}
      titleOf={({ title }) => title}
      stateOf={(memory) => <StatusBadge memory={memory} />}
      actionsOf={(memory) => <Actions memory={memory} />}
      lines={8}
    >
      {(memory) => (
        <Tabs
          label="Memory"
          tabs={[
            { key: "content", label: "Content", content: <Content memory={memory} /> },
            { key: "history", label: "History", content: <Versions memory={memory} /> },
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
      <FactsCard
        of={{
          Scope: <ScopeBadge scope={memory.scope} />,
          Type: capitalised(memory.type),
          Confidence: isStated(memory) && percent(memory.confidence),
          Importance: percent(memory.importance),
          "Lowest confidence of its sources": usage.trust < memory.confidence && percent(usage.trust),
          "Cited in 30 days": formatted(usage.cite_count_30d),
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
  return <FactsCard title="Source" of={facts} />;
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

type Props = SavingProps & { memory: MemoryWithUsage };

const share = (label: string, hint?: string) => number(label, { min: 0, max: 1, step: 0.05, hint });

const EDITED = {
  title: TITLE,
  content: area("Content", { required: true, maxLength: 32_768, rows: 8 }),
  confidence: share("Confidence", "0 to 1: how certain it is."),
  importance: share("Importance", "0 to 1: how much it matters."),
  tags: TAGS,
};

function EditDialog({ memory, onClose }: Props) {
  const form = useForm(EDITED, memory);
  const save = useSaving(onClose, async () => {
    const saved = await form.save(api.memories, { id: memory.id }, `/memories/${memory.id}`);
    return saved ? "Saved." : false;
  });
  return (
    <FormDialog title="Edit memory" submit="Save" onClose={onClose} task={save}>
      {form.rows("title", "content")}
      <div className="grid-2">
        {form.show("confidence", { required: true })}
        {form.show("importance", { required: true })}
      </div>
      {form.show("tags")}
    </FormDialog>
  );
}

const READERS: Option<"team" | "institutional">[] = [
  { value: "team", label: "The owning agent's team" },
  { value: "institutional", label: "Everyone in the organisation" },
];

const PROMOTION = {
  scope: select("Readers", READERS, { hint: "Access can only be widened. This cannot be undone." }),
  team_id: combo("Team", { find: findTeams, none: "The owning agent's team" }),
};

function PromoteDialog({ memory, onClose }: Props) {
  const form = useForm(PROMOTION, { scope: "institutional" });
  const { may } = useSession();
  const { scope, team_id } = form.values();
  const isForTeam = scope === "team";
  const save = useSaving(onClose, async () => {
    await api.memories.promote({ id: memory.id, scope, ...filled({ team_id: isForTeam && team_id }) });
    return isForTeam ? "The team can now read it." : "Everyone in the organisation can now read it.";
  });
  return (
    <FormDialog title="Promote memory" submit="Promote" onClose={onClose} task={save}>
      {form.show("scope", { options: READERS.slice(memory.scope === "agent" ? 0 : 1) })}
      {isForTeam && may("teams.list") && form.show("team_id")}
    </FormDialog>
  );
}

const RELATIONSHIP = {
  relationship_type: select("Relationship type", []),
  target_memory_id: combo("Target memory"),
  strength: share("Strength"),
};

function RelateDialog({ memory, onClose }: Props) {
  const form = useForm(RELATIONSHIP, { relationship_type: "related_to", strength: 0.5 });
  const types = useRead(api.relationships.types, {});
  const known = types.data?.relationship_types ?? [];
  const { relationship_type, target_memory_id, strength } = form.values();
  const save = useSaving(onClose, async () => {
    const made = await api.relationships.create({
      ...{ id: memory.id, relationship_type, strength: strength ?? 0 },
      target_memory_id: target_memory_id ?? "",
    });
    madeHere.add(made.id);
    return "Relationship added.";
  });
  return (
    <FormDialog
      title="New relationship"
      submit="Add relationship"
      disabled={!target_memory_id}
      onClose={onClose}
      task={save}
      error={save.error ?? types.error}
    >
      {form.show("relationship_type", {
        options: known.map(({ name }) => ({ value: name, label: name.replaceAll("_", " ") })),
        hint: known.find(({ name }) => name === relationship_type)?.description,
      })}
      {form.show("target_memory_id", { find: others(memory) })}
      {form.show("strength")}
    </FormDialog>
  );
}

function SupersedeDialog({ memory, onClose }: Props) {
  const form = useForm({ by: combo("Superseded by") });
  const { by } = form.values();
  const save = useSaving(onClose, async () => {
    await api.memories.supersede({ id: memory.id, superseded_by_id: by ?? "" });
    return "Superseded. Searches return the newer memory.";
  });
  return (
    <FormDialog title="Supersede memory" submit="Supersede" disabled={!by} onClose={onClose} task={save}>
      <p className="muted">
        “{memory.title}” stays readable, but searches return it only if superseded memories are included. This
        cannot be undone.
      </p>
      {form.show("by", { find: others(memory) })}
    </FormDialog>
  );
}

const others = (memory: MemoryWithUsage) => async (text: string, signal: AbortSignal) =>
  (await findMemories(text, signal)).filter(({ id }) => id !== memory.id);

const DIALOGS = {
  edit: EditDialog,
  promote: PromoteDialog,
  relate: RelateDialog,
  supersede: SupersedeDialog,
};

function Actions({ memory }: { memory: MemoryWithUsage }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  const own = useIsOwn(memory);
  const forget = useAct(() => ({
    title: `Forget “${memory.title}”?`,
    text: "Searches no longer find it. You can restore it for 30 days; then it is deleted permanently.",
    action: "Forget",
    act: () => api.memories.forget({ id: memory.id }),
    done: "Forgotten. You can restore it within 30 days.",
  }));
  if (memory.status === "forgotten") {
    return (
      <ActButton
        label="Restore"
        kind="primary"
        act={() => api.memories.restore({ id: memory.id })}
        done="Restored. Searches find it again."
      />
    );
  }
  const OpenDialog = open && DIALOGS[open];
  return (
    <>
      {own && <Button label="Edit" icon={Pencil} onClick={() => setOpen("edit")} />}
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Add relationship…", onSelect: () => setOpen("relate") },
          own &&
            memory.scope !== "institutional" && { label: "Promote…", onSelect: () => setOpen("promote") },
          own && memory.status === "active" && { label: "Supersede…", onSelect: () => setOpen("supersede") },
          own && { label: "Forget…", onSelect: () => forget.run(), danger: true },
        ]}
      />
      {OpenDialog && <OpenDialog memory={memory} onClose={() => setOpen(null)} />}
    </>
  );
}
