import { Link, useNavigate, useSearchParams } from "react-router";
import type { Memory } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled } from "../../data/format.ts";
import { pause, useList, useLoad } from "../../data/queries.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { optionsOf } from "../../ui/field.tsx";
import { area, select, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Brain, Copy, GitMerge, HeartPulse, SearchX, Waypoints } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { type Column, column, endColumn, RowLink, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Time, Who } from "../../ui/text.tsx";
import { Filters, Found, filtersOf } from "./found.tsx";
import { toAddress } from "./metadata.ts";
import { isStated, percent, ScopeBadge, StatusBadge, TAGS, Tags, TITLE, TYPES } from "./words.tsx";
import "./memories.css";

/** Memories of agents and people: listed, or searched by words and meaning. */
export function Memories() {
  const [search] = useSearchParams();
  const filters = filtersOf(search);
  const { type, metadata, neverCited } = filters;
  const further = filled({ type, metadata: toAddress(metadata), never_cited: neverCited });
  const params = { ...filters.params, ...further };
  const isFiltered = Object.keys(params).length > 0;
  return (
    <ListPage
      title="Memories"
      lead="Memories of agents and people that you can read."
      create="Create memory"
      dialog={(onClose) => <RememberDialog onClose={onClose} />}
      actions={
        <>
          <ButtonLink label="Map" to="/memories/map" icon={Waypoints} />
          <ButtonLink label="Merge proposals" to="/memories/merges" icon={GitMerge} />
          <ButtonLink label="Health" to="/memories/health" icon={HeartPulse} />
        </>
      }
      bar={<Filters />}
      instead={filters.q && <Found filters={filters} />}
      pages={useList(api.memories.list, params, "memories", ["memory", "merge"])}
      columns={COLUMNS}
      icon={Brain}
      none={
        <>
          Agents create memories with <code>POST /v1/memories</code> or <code>sensorium remember</code>. Only
          the agent and its owner see memories of scope <code>agent</code>.
        </>
      }
      empty={
        isFiltered && (
          <Empty icon={SearchX} title="No matching memories">
            Remove a filter, or search by meaning above.
          </Empty>
        )
      }
    />
  );
}

const MEMORY = {
  title: TITLE,
  content: area("Content", {
    required: true,
    maxLength: 32_768,
    rows: 6,
    hint: "Markdown. All agents of the organisation can find and read it.",
  }),
  type: select("Type", optionsOf(TYPES)),
  tags: TAGS,
};

/** Creates a memory for the whole tenant: agents create their own. */
function RememberDialog({ onClose }: SavingProps) {
  const form = useForm(MEMORY, { type: "semantic" });
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const made = await api.memories.create({ ...form.values(), scope: "institutional" });
    toast({ title: "Memory created. Every agent can find it now." });
    navigate(`/memories/${made.id}`, { replace: true });
  });
  return (
    <FormDialog title="New memory" submit="Create memory" onClose={onClose} task={save}>
      {form.rows("title", "content")}
      <Duplicates {...form.drafts} />
      {form.rows("type", "tags")}
    </FormDialog>
  );
}

/** Wait for a pause in writing before searching. */
const PAUSE_MS = 600;
/** Fewer characters are similar to too much. */
const MIN_LENGTH = 12;
const MAX_QUERY = 2000;
const MOST_SHOWN = 3;
/** Cosine of the texts: rewordings of one fact have 0.76 to 0.88, other facts about the same subject at most 0.66. */
const ALIKE = 0.75;

/** While a memory is written: memories that may already say the same. */
function Duplicates({ title, content }: { title: string; content: string }) {
  const text = `${title} ${content}`.trim().slice(0, MAX_QUERY);
  const found = useLoad(
    async (signal) => {
      if (text.length < MIN_LENGTH) return [];
      await pause(PAUSE_MS, signal);
      const { results } = await api.memories.search({ query: text, limit: MOST_SHOWN }, { signal });
      return results.filter(({ sources }) => (sources.vector ?? 0) >= ALIKE).map(({ memory }) => memory);
    },
    [text],
  );
  return (
    <div role="status">
      {found.data && found.data.length > 0 && (
        <div className="notice warn">
          <Copy aria-hidden size={16} />
          <span>
            Looks like{" "}
            {found.data.map(({ id, title: known }, at) => (
              <span key={id}>
                {at > 0 && ", "}
                <Link to={`/memories/${id}`} target="_blank">
                  {known}
                </Link>
              </span>
            ))}
            . You can edit or supersede an existing memory instead.
          </span>
        </div>
      )}
    </div>
  );
}

const COLUMNS: Column<Memory>[] = [
  column("Memory", (memory) => (
    <div className="memory-cell">
      <RowLink to={`/memories/${memory.id}`} className="memory-title">
        {memory.title}
      </RowLink>
      <span className="memory-excerpt">
        <Plain>{memory.content}</Plain>
      </span>
    </div>
  )),
  wideColumn("Type", (memory) => capitalised(memory.type)),
  column("Scope", (memory) => (
    <span className="row">
      <ScopeBadge scope={memory.scope} />
      {memory.status !== "active" && <StatusBadge memory={memory} />}
    </span>
  )),
  wideColumn("Owner", (memory) => <Who id={memory.agent_id ?? memory.user_id ?? ""} />),
  wideColumn("Tags", (memory) => <Tags tags={memory.tags} />),
  wideEndColumn("Confidence", (memory) => (isStated(memory) ? percent(memory.confidence) : "–")),
  endColumn("Created", (memory) => <Time at={memory.created_at} />),
];
