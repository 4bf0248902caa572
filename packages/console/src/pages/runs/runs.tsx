import { Link, useNavigate } from "react-router";
import type { Run } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { useLoad } from "../../data/use-load.ts";
import { Button } from "../../ui/button.tsx";
import { type Option, optionsOf } from "../../ui/field.tsx";
import { SegmentsFilter, SelectFilter } from "../../ui/filters.tsx";
import { Workflow } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { BeginDialog } from "./begin.tsx";
import { RunStatus, Steps } from "./words.tsx";
import "./runs.css";

const PAGE = 100;

const COLUMNS: Column<Run>[] = [
  column("Goal", (run) => (
    <Titled to={`/runs/${run.id}`} title={run.goal}>
      created by {run.initiated_by.display_name}
      {run.project_id && ` · ${run.project_id}`}
    </Titled>
  )),
  column("Status", (run) => <RunStatus run={run} />),
  wideColumn("Steps", (run) => <Steps steps={run.steps} />),
  wideEndColumn("Updated", (run) => <Time at={run.updated_at} />),
  endColumn("Created", (run) => <Time at={run.created_at} />),
];

/** Work towards goals, step by step. */
export function Runs() {
  const [address] = useAddress();
  const navigate = useNavigate();
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
  const isFiltered = Object.keys(paramsOf(filters)).length > 0;
  return (
    <ListPage
      title="Runs"
      lead="Goals that agents and people work on together, step by step."
      create="Create run"
      dialog={(onClose) => <BeginDialog onClose={onClose} />}
      bar={<Filters {...filters} />}
      pages={pages}
      columns={COLUMNS}
      linkOf={(run) => `/runs/${run.id}`}
      icon={Workflow}
      none={
        <>
          A run is a goal with dependent steps. Create one from a <Link to="/templates">template</Link> or
          with custom steps. Agents find their next step with <code>GET /v1/runs/{"{id}"}/position</code>.
        </>
      }
      empty={
        isFiltered && (
          <Empty
            icon={Workflow}
            title="No matching runs"
            action={<Button label="Clear filters" onClick={() => navigate("/runs")} />}
          />
        )
      }
    />
  );
}

const STATUSES = ["all", "active", "completed", "closed"] as const;

interface RunFilters {
  search: string;
  status: (typeof STATUSES)[number];
  template: string;
  project: string;
}

/** Reads the filters from the address, so that a list can be linked and revisited. */
function filtersOf(address: URLSearchParams): RunFilters {
  return {
    search: address.get("q") ?? "",
    status: STATUSES.find((each) => each === address.get("status")) ?? "all",
    template: address.get("template") ?? "",
    project: address.get("project") ?? "",
  };
}

/** Converts filters to the parameters of `runs.list`. */
function paramsOf({ search, status, template, project }: RunFilters) {
  return {
    ...(search && { search }),
    ...(status !== "all" && { status }),
    ...(template && { template_slug: template }),
    ...(project && { project_id: project }),
  };
}

function Filters({ template, project }: RunFilters) {
  const choices = useLoad(readChoices, []);
  return (
    <div className="list-bar run-filters">
      <ListSearch label="Search runs" />
      <SelectFilter
        name="template"
        label="Template"
        options={withChosen("All templates", choices.data?.templates, template)}
      />
      <SelectFilter
        name="project"
        label="Project"
        options={withChosen("All projects", choices.data?.projects, project)}
      />
      <SegmentsFilter name="status" label="Status" options={optionsOf(STATUSES)} />
    </div>
  );
}

async function readChoices(signal: AbortSignal) {
  const templates = await api.templates.list({}, { signal });
  const projects: Option[] = [];
  for await (const { key, name } of api.projects.list.all({ limit: 200 }, { signal }))
    projects.push({ value: key, label: name });
  return { templates: templates.map(({ slug, name }) => ({ value: slug, label: name })), projects };
}

/** Starts with all. Contains the chosen one also while the others load, or if it is gone. */
function withChosen(all: string, known: Option[] = [], chosen: string): Option[] {
  const isKnown = !chosen || known.some(({ value }) => value === chosen);
  return [{ value: "", label: all }, ...(isKnown ? known : [{ value: chosen, label: chosen }, ...known])];
}
