import type { Finding } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { AgentFilter } from "../../ui/filters.tsx";
import { Lightbulb, X } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { Plain } from "../../ui/plain.ts";
import { type Column, column, endColumn, Titled, wideColumn } from "../../ui/table.tsx";
import { Badge, Time, Who } from "../../ui/text.tsx";

const COLUMNS: Column<Finding>[] = [
  column("Finding", ({ memory_id, title, summary }) => (
    <Titled to={`/memories/${memory_id}`} title={title}>
      <Plain>{summary}</Plain>
    </Titled>
  )),
  column("Origin", ({ origin, from_scope }) => (
    <Badge
      label={origin === "promoted" && from_scope ? `Promoted from ${from_scope}` : capitalised(origin)}
      tone={origin === "promoted" ? "accent" : "neutral"}
    />
  )),
  wideColumn("Type", ({ type }) => capitalised(type)),
  column("By", ({ by_agent_id }) => (by_agent_id ? <Who id={by_agent_id} /> : "A person")),
  endColumn("Recorded", ({ recorded_at }) => <Time at={recorded_at} />),
];

/** The memories that became the institution's: what agents read as findings. */
export function Findings() {
  const [search, change] = useAddress();
  const filter = filled({ agent_id: search.get("agent"), memory_id: search.get("memory") });
  return (
    <ListPage
      title="Findings"
      lead="A finding is a memory that was shared with the whole organisation. Each agent reads the new ones of others."
      above={
        <div className="filters">
          <AgentFilter name="agent" label="Agent" none="All agents" />
          {filter.memory_id && (
            <Button label="Only one memory" icon={X} onClick={() => change({ memory: null })} />
          )}
        </div>
      }
      pages={useList(api.findings.browse, filter, "findings")}
      columns={COLUMNS}
      icon={Lightbulb}
      empty={
        <Empty
          icon={Lightbulb}
          title={Object.keys(filter).length > 0 ? "No findings for these filters" : "No findings yet"}
        >
          What one agent learns, the others read here. A memory becomes a finding when it is created with
          scope institutional, or promoted to it.
        </Empty>
      }
    />
  );
}
