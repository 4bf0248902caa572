import type { Agent, ListedBundle } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../../ui/badge.tsx";
import { PackageOpen } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Audited } from "./audited.tsx";

export const NO_QUERY = "Latest items, without a query";

const columnsOf = (agent: Agent): Column<ListedBundle>[] => [
  column("Query", ({ id, query, item_count }) => (
    <Titled to={`/agents/${agent.id}/bundles/${id}`} title={query ?? NO_QUERY}>
      {plural(item_count, "item")}
    </Titled>
  )),
  column("Sources", ({ degraded }) => (
    <Badge label={degraded ? "Incomplete" : "Complete"} tone={degraded ? "warn" : "good"} />
  )),
  endColumn("Gathered", ({ created_at }) => <Time at={created_at} />),
];

/** The context that an agent gathered for its tasks, newest first. */
export function Bundles({ agent }: { agent: Agent }) {
  const pages = useList(api.bundles.listOfAgent, { agent_id: agent.id }, "bundles");
  return (
    <Audited>
      <List
        pages={pages}
        label="Bundles"
        columns={columnsOf(agent)}
        linkOf={({ id }) => `/agents/${agent.id}/bundles/${id}`}
        empty={
          <Empty icon={PackageOpen} title="No bundles">
            Before a task, an agent gathers memories, outputs and handoffs with <code>POST /v1/bundles</code>.
          </Empty>
        }
      />
    </Audited>
  );
}
