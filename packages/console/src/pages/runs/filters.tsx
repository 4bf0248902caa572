import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useAddress } from "../../data/use-address.ts";
import { useLoad } from "../../data/use-load.ts";
import { type Option, Segments, SelectField } from "../../ui/field.tsx";
import { ListSearch } from "../../ui/search.tsx";

export const STATUSES = ["all", "active", "completed", "closed"] as const;

export interface RunFilters {
  search: string;
  status: (typeof STATUSES)[number];
  template: string;
  project: string;
}

/** Reads the filters from the address, so that a list can be linked and revisited. */
export function filtersOf(address: URLSearchParams): RunFilters {
  return {
    search: address.get("q") ?? "",
    status: STATUSES.find((each) => each === address.get("status")) ?? "all",
    template: address.get("template") ?? "",
    project: address.get("project") ?? "",
  };
}

/** Converts filters to the parameters of `runs.list`. */
export function paramsOf({ search, status, template, project }: RunFilters) {
  return {
    ...(search && { search }),
    ...(status !== "all" && { status }),
    ...(template && { template_slug: template }),
    ...(project && { project_id: project }),
  };
}

export function Filters({ status, template, project }: RunFilters) {
  const [, change] = useAddress();
  const choices = useLoad(readChoices, []);
  return (
    <div className="list-bar run-filters">
      <ListSearch label="Search runs" />
      <SelectField
        label="Template"
        value={template}
        options={optionsOf("All templates", choices.data?.templates, template)}
        onChange={(value) => change({ template: value })}
      />
      <SelectField
        label="Project"
        value={project}
        options={optionsOf("All projects", choices.data?.projects, project)}
        onChange={(value) => change({ project: value })}
      />
      <Segments
        label="Status"
        value={status}
        onChange={(value) => change({ status: value === "all" ? null : value })}
        options={STATUSES.map((value) => ({ value, label: capitalised(value) }))}
      />
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
function optionsOf(all: string, known: Option[] = [], chosen: string): Option[] {
  const isKnown = !chosen || known.some(({ value }) => value === chosen);
  return [{ value: "", label: all }, ...(isKnown ? known : [{ value: chosen, label: chosen }, ...known])];
}
