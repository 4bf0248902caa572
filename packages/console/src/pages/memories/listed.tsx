import { Link } from "react-router";
import type { Memory } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useList } from "../../data/use-list.ts";
import { Button } from "../../ui/button.tsx";
import { Brain, Plus, SearchX } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import type { MemoryFilters } from "./filters.tsx";
import { isStated, percent, ScopeBadge, StatusBadge, Tags } from "./words.tsx";

const COLUMNS: Column<Memory>[] = [
  {
    name: "Memory",
    cell: (memory) => (
      <div className="memory-cell">
        <Link to={`/memories/${memory.id}`} className="memory-title">
          {memory.title}
        </Link>
        <span className="memory-excerpt">
          <Plain>{memory.content}</Plain>
        </span>
      </div>
    ),
  },
  { name: "Type", cell: (memory) => capitalised(memory.type), wideOnly: true },
  {
    name: "Scope",
    cell: (memory) => (
      <span className="row">
        <ScopeBadge scope={memory.scope} />
        {memory.status !== "active" && <StatusBadge memory={memory} />}
      </span>
    ),
  },
  { name: "Tags", cell: (memory) => <Tags tags={memory.tags} />, wideOnly: true },
  {
    name: "Confidence",
    cell: (memory) => (isStated(memory) ? percent(memory.confidence) : "–"),
    end: true,
    wideOnly: true,
  },
  { name: "Created", cell: (memory) => <Time at={memory.created_at} />, end: true },
];

/** Memories that match the filters, newest first. */
export function Listed({ filters, remember }: { filters: MemoryFilters; remember(): void }) {
  const { type, scope, project, tags, superseded, neverCited } = filters;
  const params = {
    ...(type && { type }),
    ...(scope && { scope }),
    ...(project && { project_id: project }),
    ...(tags.length > 0 && { tags }),
    ...(superseded && { include_superseded: true }),
    ...(neverCited && { never_cited: true }),
  };
  const filtered = Object.keys(params).length > 0;
  const pages = useList(api.memories.list, params, "memories", ["memory", "merge"]);
  return (
    <List
      pages={pages}
      label="Memories"
      columns={COLUMNS}
      linkOf={(memory) => `/memories/${memory.id}`}
      empty={filtered ? <NothingFits /> : <Nothing remember={remember} />}
    />
  );
}

function NothingFits() {
  return (
    <Empty icon={SearchX} title="No matching memories">
      Remove a filter, or search by meaning above.
    </Empty>
  );
}

function Nothing({ remember }: { remember(): void }) {
  return (
    <Empty
      icon={Brain}
      title="No memories yet"
      action={
        <Button kind="primary" icon={Plus} onClick={remember}>
          Create memory
        </Button>
      }
    >
      Agents create memories with <code>POST /v1/memories</code> or <code>sensorium remember</code>. Only the
      agent and its owner see memories of scope <code>agent</code>.
    </Empty>
  );
}
