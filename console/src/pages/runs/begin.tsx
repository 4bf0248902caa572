import { useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";

/** One step a line, each after the one before it. */
function stepsOfLines(text: string) {
  const titles = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return titles.map((title, at) => ({
    step_key: `step-${at + 1}`,
    title,
    depends_on: at === 0 ? [] : [`step-${at}`],
    completion_mode: "attestation" as const,
  }));
}

export function BeginDialog({ onClose, templateId = "" }: { onClose(): void; templateId?: string }) {
  const [goal, setGoal] = useState("");
  const [template, setTemplate] = useState(templateId);
  const [lines, setLines] = useState("");
  const [project, setProject] = useState("");
  const [criteria, setCriteria] = useState("");
  const templates = useLoad((signal) => api.templates.list({}, { signal }), []);
  const navigate = useNavigate();
  const begin = useTask(
    async () => {
      const success_criteria = criteria
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean);
      const work = template ? { template_id: template } : { steps: stepsOfLines(lines) };
      const run = await api.runs.create({
        goal,
        success_criteria,
        ...work,
        ...(project.trim() && { project_id: project.trim() }),
      });
      navigate(`/runs/${run.id}`);
    },
    { quiet: true },
  );
  const options = [
    { value: "", label: "No template: steps of its own" },
    ...(templates.data ?? []).map(({ id, name, version_num }) => ({
      value: id,
      label: `${name} (version ${version_num})`,
    })),
  ];
  return (
    <FormDialog
      title="Begin a run"
      submit="Begin"
      onClose={onClose}
      onSubmit={() => begin.run()}
      busy={begin.busy}
      error={begin.error}
    >
      <TextField label="Goal" value={goal} onChange={setGoal} required placeholder="Ship the release notes" />
      <SelectField label="Steps" value={template} onChange={setTemplate} options={options} />
      {!template && (
        <TextArea
          label="One step a line"
          value={lines}
          onChange={setLines}
          rows={5}
          placeholder={"Write the draft\nReview it\nPublish"}
          hint="Each waits for the one before it. A template can have steps side by side."
        />
      )}
      <TextArea
        label="Success criteria"
        value={criteria}
        onChange={setCriteria}
        rows={2}
        hint="One a line. Optional."
      />
      <TextField label="Project" value={project} onChange={setProject} hint="A project's key. Optional." />
    </FormDialog>
  );
}
