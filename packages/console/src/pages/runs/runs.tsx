import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { Run } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { Button } from "../../ui/button.tsx";
import { Plus, Workflow } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, List, Titled } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { BeginDialog } from "./begin.tsx";
import { Filters, filtersOf, paramsOf, type RunFilters } from "./filters.tsx";
import { RunStatus, Steps } from "./words.tsx";
import "./runs.css";

const PAGE = 100;

const COLUMNS: Column<Run>[] = [
  {
    name: "Goal",
    cell: (run) => (
      <Titled to={`/runs/${run.id}`} title={run.goal}>
        created by {run.initiated_by.display_name}
        {run.project_id && ` · ${run.project_id}`}
      </Titled>
    ),
  },
  { name: "Status", cell: (run) => <RunStatus run={run} /> },
  { name: "Steps", cell: (run) => <Steps steps={run.steps} />, wideOnly: true },
  { name: "Updated", cell: (run) => <Time at={run.updated_at} />, end: true, wideOnly: true },
  { name: "Created", cell: (run) => <Time at={run.created_at} />, end: true },
];

/** Work towards goals, step by step. */
export function Runs() {
  const [address] = useAddress();
  const [beginning, setBeginning] = useState(false);
  const filters = filtersOf(address);
  const pages = usePages(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const asked = { offset, limit: PAGE, ...paramsOf(filters) };
      const items: Run[] = [];
      // The service returns fewer long runs per page.
      for await (const run of api.runs.list.all(asked, { signal })) if (items.push(run) === PAGE) break;
      return { items, next: items.length === PAGE ? String(offset + PAGE) : null };
    },
    [JSON.stringify(filters)],
    "runs",
    "run",
  );
  const begin = (
    <Button kind="primary" icon={Plus} onClick={() => setBeginning(true)}>
      Create run
    </Button>
  );
  return (
    <Page title="Runs" lead="Goals that agents and people work on together, step by step." actions={begin}>
      <Filters {...filters} />
      <List
        pages={pages}
        label="Runs"
        columns={COLUMNS}
        linkOf={(run) => `/runs/${run.id}`}
        empty={<NoRuns filters={filters} begin={begin} />}
      />
      {beginning && <BeginDialog onClose={() => setBeginning(false)} />}
    </Page>
  );
}

function NoRuns({ filters, begin }: { filters: RunFilters; begin: ReactNode }) {
  const navigate = useNavigate();
  const clear = <Button onClick={() => navigate("/runs")}>Clear filters</Button>;
  if (Object.keys(paramsOf(filters)).length > 0)
    return <Empty icon={Workflow} title="No matching runs" action={clear} />;
  return (
    <Empty icon={Workflow} title="No runs yet" action={begin}>
      A run is a goal with dependent steps. Create one from a <Link to="/templates">template</Link> or with
      custom steps. Agents find their next step with <code>GET /v1/runs/{"{id}"}/position</code>.
    </Empty>
  );
}
