import { useState } from "react";
import { useNavigate } from "react-router";
import type { ProcessTemplate, TemplateSummary } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { findPeople, findProjects } from "../../data/find.ts";
import { linesOf } from "../../data/format.ts";
import { useLoad, useRead } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { SelectField, TextArea, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useFormTask } from "../../ui/task.tsx";

/** One step per line, each after the previous one. */
function stepsOfLines(text: string) {
  return linesOf(text).map((title, at) => ({
    step_key: `step-${at + 1}`,
    title,
    depends_on: at === 0 ? [] : [`step-${at}`],
    completion_mode: "attestation" as const,
  }));
}

/** Reads a chosen template's goal and steps. */
async function readTemplate(id: string, signal: AbortSignal) {
  const listed = await api.templates.list({}, { signal });
  const slug = listed.find((each) => each.id === id)?.slug;
  return slug === undefined ? null : api.templates.get({ slug }, { signal });
}

interface BeginProps {
  onClose(): void;
  /** The initial template, which need not be the latest version. */
  given?: ProcessTemplate;
}

export function BeginDialog({ onClose, given }: BeginProps) {
  const [{ goal, template, lines, project, criteria }, field] = useDraft({
    goal: "",
    template: given?.id ?? "",
    lines: "",
    project: null as Choice | null,
    criteria: "",
  });
  const [assigned, setAssigned] = useState<Assigned>({});
  const templates = useRead(api.templates.list, {});
  const chosen = useLoad(
    async (signal) => (template === given?.id ? given : template ? readTemplate(template, signal) : null),
    [template],
  );
  const navigate = useNavigate();
  const steps = template ? (chosen.data?.steps ?? []) : stepsOfLines(lines);
  const goalOfTemplate = chosen.data?.goal_template ?? "";
  const begin = useFormTask(async () => {
    const run = await api.runs.create({
      goal: goal.trim() || goalOfTemplate,
      success_criteria: linesOf(criteria),
      ...workOf(template, steps, assigned),
      ...(project && { project_id: project.id }),
    });
    navigate(`/runs/${run.id}`, { replace: given === undefined });
  });
  return (
    <FormDialog
      title="New run"
      submit="Create run"
      onClose={onClose}
      task={begin}
      error={begin.error ?? templates.error ?? chosen.error}
    >
      <TextField
        label="Goal"
        {...field("goal")}
        required={!goalOfTemplate}
        placeholder={goalOfTemplate || "Ship the release notes"}
      />
      <SelectField label="Template" {...field("template")} options={optionsOf(templates.data ?? [], given)} />
      {!template && (
        <TextArea
          label="Steps"
          {...field("lines")}
          rows={5}
          placeholder={"Write the draft\nReview it\nPublish"}
          hint="One per line. Each depends on the one before it. For parallel steps, use a template."
        />
      )}
      {steps.length > 0 && <Assignees steps={steps} assigned={assigned} onChange={setAssigned} />}
      <TextArea label="Success criteria" {...field("criteria")} rows={2} hint="One per line. Optional." />
      <Combo label="Project" {...field("project")} find={findProjects} none="No project" />
    </FormDialog>
  );
}

function optionsOf(listed: TemplateSummary[], given: ProcessTemplate | undefined) {
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
  steps: ReturnType<typeof stepsOfLines> | { step_key: string }[],
  assigned: Assigned,
) {
  const personOf = ({ step_key }: { step_key: string }) => assigned[step_key]?.id;
  if (!template_id) {
    const own = steps as ReturnType<typeof stepsOfLines>;
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
