import { Link, useNavigate } from "react-router";
import type { ProcessTemplate, Run, TemplateSummary } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoad, usePages, useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { type Option, optionsOf } from "../../ui/field.tsx";
import { SegmentsFilter, SelectFilter } from "../../ui/filters.tsx";
import { combo, lines, select, text, useForm } from "../../ui/form.tsx";
import { Workflow } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, column, endColumn, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { RunStatus, Steps } from "./words.tsx";
import "./runs.css";
import { useState } from "react";
import { filled } from "../../data/format.ts";
import { useSession } from "../../data/session.ts";
import { type Choice, Combo, findPeople, findProjects } from "../../ui/combo.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useFormTask } from "../../ui/task.tsx";

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

export function Runs() {
  const [address] = useAddress();
  const navigate = useNavigate();
  const filters = paramsOf(address);
  const pages = usePages(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const asked = { offset, limit: PAGE, ...filters };
      const items: Run[] = [];
      // The service returns fewer long runs per page.
      for await (const run of api.runs.list.all(asked, { signal })) if (items.push(run) === PAGE) break;
      return { items, next: items.length === PAGE ? String(offset + PAGE) : null };
    },
    [JSON.stringify(filters)],
    "runs",
    "run",
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <ListPage
      title="Runs"
      lead="Goals that agents and people work on together, step by step."
      create="Create run"
      dialog={(onClose) => <BeginDialog onClose={onClose} />}
      bar={<Filters {...filters} />}
      pages={pages}
      columns={COLUMNS}
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

const STATUSES = ["active", "completed", "closed"] as const;

const paramsOf = (address: URLSearchParams) =>
  filled({
    search: address.get("q"),
    status: STATUSES.find((each) => each === address.get("status")),
    template_slug: address.get("template"),
    project_id: address.get("project"),
  });

function Filters({ template_slug = "", project_id = "" }: ReturnType<typeof paramsOf>) {
  const choices = useLoad(readChoices, []);
  return (
    <div className="list-bar run-filters">
      <ListSearch label="Search runs" />
      <SelectFilter
        name="template"
        label="Template"
        options={withChosen("All templates", choices.data?.templates, template_slug)}
      />
      <SelectFilter
        name="project"
        label="Project"
        options={withChosen("All projects", choices.data?.projects, project_id)}
      />
      <SegmentsFilter name="status" label="Status" options={optionsOf(["all", ...STATUSES])} />
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

/** Each step depends on the one before it. */
function stepsOf(titles: string[]) {
  return titles.map((title, at) => ({
    step_key: `step-${at + 1}`,
    title,
    depends_on: at === 0 ? [] : [`step-${at}`],
    completion_mode: "attestation" as const,
  }));
}

interface BeginProps {
  onClose(): void;
  /** The initial template, which need not be the latest version. */
  given?: ProcessTemplate;
}

const RUN = {
  goal: text("Goal"),
  template: select("Template", []),
  titles: lines("Steps", {
    rows: 5,
    placeholder: "Write the draft\nReview it\nPublish",
    hint: "One per line. Each depends on the one before it. For parallel steps, use a template.",
  }),
  success_criteria: lines("Success criteria", { rows: 2, hint: "One per line. Optional." }),
  values: lines("Values", {
    rows: 2,
    placeholder: "order_id = 4711",
    hint: "One per line, for the filters of steps that wait for an event. Quote a number that is a text.",
  }),
  project_id: combo("Project", { find: findProjects, none: "No project" }),
};

export function BeginDialog({ onClose, given }: BeginProps) {
  const form = useForm(RUN, { template: given?.id ?? "" });
  const { goal, template, titles, values, success_criteria, project_id } = form.values();
  const [assigned, setAssigned] = useState<Assigned>({});
  const templates = useRead(api.templates.list, {});
  const isGiven = template === given?.id;
  const slug = isGiven ? undefined : templates.data?.find(({ id }) => id === template)?.slug;
  const other = useLoad(async (signal) => (slug ? api.templates.get({ slug }, { signal }) : null), [slug]);
  const chosen = isGiven ? given : other.data;
  const navigate = useNavigate();
  const steps = template ? (chosen?.steps ?? []) : stepsOf(titles);
  const goalOfTemplate = chosen?.goal_template ?? "";
  const begin = useFormTask(async () => {
    const run = await api.runs.create({
      goal: goal ?? goalOfTemplate,
      success_criteria,
      values: valuesOf(values),
      ...workOf(template, steps, assigned),
      ...filled({ project_id }),
    });
    navigate(`/runs/${run.id}`, { replace: given === undefined });
  });
  return (
    <FormDialog
      title="New run"
      submit="Create run"
      onClose={onClose}
      task={begin}
      error={begin.error ?? templates.error ?? other.error}
    >
      {form.show("goal", {
        required: !goalOfTemplate,
        placeholder: goalOfTemplate || "Ship the release notes",
      })}
      {form.show("template", { options: templateOptions(templates.data ?? [], given) })}
      {!template && form.show("titles")}
      {steps.length > 0 && <Assignees steps={steps} assigned={assigned} onChange={setAssigned} />}
      {form.show("success_criteria")}
      {steps.some((step) => "wait_for" in step && step.wait_for) && form.show("values")}
      {form.show("project_id")}
    </FormDialog>
  );
}

/** Parses `order_id = 4711`: a number, a truth value or a quoted text as in JSON, else a text. */
function valuesOf(texts: string[]) {
  const entries = texts.map((line) => {
    const [name = "", ...rest] = line.split("=");
    return [name.trim(), scalarOf(rest.join("=").trim())] as const;
  });
  return Object.fromEntries(entries);
}

function scalarOf(text: string): string | number | boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  } catch {
    // A text without quotes.
  }
  return text;
}

function templateOptions(listed: TemplateSummary[], given: ProcessTemplate | undefined) {
  const isListed = listed.some(({ id }) => id === given?.id);
  const templates = given && !isListed ? [given, ...listed] : listed;
  return [
    { value: "", label: "No template: custom steps" },
    ...templates.map(({ id, name, version_num }) => ({
      value: id,
      label: `${name} (version ${version_num})`,
    })),
  ];
}

function workOf(
  template_id: string,
  steps: ReturnType<typeof stepsOf> | { step_key: string }[],
  assigned: Assigned,
) {
  const personOf = ({ step_key }: { step_key: string }) => assigned[step_key]?.id;
  if (!template_id) {
    const own = steps as ReturnType<typeof stepsOf>;
    return { steps: own.map((step) => ({ ...step, assigned_user_id: personOf(step) ?? null })) };
  }
  const step_assignments = steps.flatMap((step) => {
    const assigned_user_id = personOf(step);
    return assigned_user_id ? [{ step_key: step.step_key, assigned_user_id }] : [];
  });
  return { template_id, ...(step_assignments.length > 0 && { step_assignments }) };
}

/** Assignees by step key. */
type Assigned = Record<string, Choice | null>;

interface Props {
  steps: readonly { step_key: string; title: string }[];
  assigned: Assigned;
  onChange(assigned: Assigned): void;
}

/** Returns a search for assignees. Members may not list people, but may assign a step to themselves. */
export function useFindAssignee(): typeof findPeople {
  const { may, user } = useSession();
  const self = { id: user.id, label: user.display_name, detail: "you" };
  return may("users.list") ? findPeople : async () => [self];
}

/** Assigns steps to people; the assignee or one of their agents does the step. */
function Assignees({ steps, assigned, onChange }: Props) {
  const find = useFindAssignee();
  return (
    <details className="more-fields">
      <summary>Assignees</summary>
      <div className="stack tight">
        {steps.map(({ step_key, title }) => (
          <Combo
            key={step_key}
            label={title}
            value={assigned[step_key] ?? null}
            onChange={(person) => onChange({ ...assigned, [step_key]: person })}
            find={find}
            none="Anyone"
          />
        ))}
      </div>
    </details>
  );
}
