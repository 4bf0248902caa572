import { useState } from "react";
import type { FieldOf } from "../../data/use-draft.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { Trash2 } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";
import { type DraftStep, dependent, freeKey, renamed, slugOf, waitsFor } from "./draft.ts";
import "../../styles/choice.css";

interface Props {
  step: DraftStep;
  steps: DraftStep[];
  onChange(steps: DraftStep[]): void;
  onRemove(step: DraftStep): void;
}

const MODES = [
  { value: "attestation", label: "The assignee attests completion" },
  { value: "handoff_accepted", label: "The next assignee accepts the handoff" },
];

export function StepForm({ step, steps, onChange, onRemove }: Props) {
  // Until edited, the key follows the title.
  const [ownKey, setOwnKey] = useState(step.title !== "");
  const others = steps.filter(({ id }) => id !== step.id);
  const changed = (to: Partial<DraftStep>) =>
    steps.map((each) => (each.id === step.id ? { ...each, ...to } : each));
  const change = (to: Partial<DraftStep>) => onChange(changed(to));
  const field: FieldOf<DraftStep> = (name) => ({
    value: step[name],
    onChange: (value) => change({ [name]: value }),
  });
  const title = (text: string) => {
    const key = slugOf(text);
    const titled = changed({ title: text });
    onChange(ownKey || !key ? titled : renamed(titled, step.id, freeKey(key, others)));
  };
  const rename = (key: string) => {
    setOwnKey(true);
    onChange(renamed(steps, step.id, key));
  };
  const taken = others.some(({ step_key }) => step_key === step.step_key);
  const remove = steps.length > 1 && (
    <Button label="Remove" small icon={Trash2} onClick={() => onRemove(step)} />
  );
  return (
    <Card title="Step" actions={remove}>
      <div className="stack">
        <TextField label="Title" value={step.title} onChange={title} maxLength={500} required />
        <div className="grid-2">
          <TextField
            label="Key"
            value={step.step_key}
            onChange={rename}
            required
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            error={taken ? "Another step uses this key." : undefined}
          />
          <TextField label="Role" {...field("role")} placeholder="writer" />
        </div>
        <TextArea label="Instructions" {...field("instructions")} rows={4} hint="Markdown." />
        {others.length > 0 && <WaitsFor step={step} steps={steps} others={others} onChange={onChange} />}
        <SelectField label="Completed when" {...field("completion_mode")} options={MODES} />
        <TextArea
          label="Completion criteria"
          {...field("criteria")}
          rows={3}
          placeholder="reviewed: A second pair of eyes has read it."
          hint="One per line. Each is attested separately."
        />
        <MoreFields field={field} />
      </div>
    </Card>
  );
}

interface WaitsForProps {
  step: DraftStep;
  steps: DraftStep[];
  others: DraftStep[];
  onChange(steps: DraftStep[]): void;
}

function WaitsFor({ step: { step_key, depends_on }, steps, others, onChange }: WaitsForProps) {
  return (
    <fieldset className="criteria-choice">
      <legend>Depends on</legend>
      {others.map((other) => {
        const circle = waitsFor(steps, other.step_key, step_key);
        return (
          <CheckField
            key={other.id}
            label={other.title || other.step_key}
            hint={circle ? "Depends on this step" : undefined}
            checked={depends_on.includes(other.step_key)}
            disabled={circle}
            onChange={(on) => onChange(dependent(steps, other.step_key, step_key, on))}
          />
        );
      })}
    </fieldset>
  );
}

function MoreFields({ field }: { field: FieldOf<DraftStep> }) {
  return (
    <details className="more-fields">
      <summary>Specialist, due date and artifacts</summary>
      <div className="stack">
        <div className="grid-2">
          <TextField
            label="Specialist"
            {...field("specialist")}
            placeholder="release-writer"
            hint="The step includes the specialist's brief."
          />
          <TextField
            label="Due in hours"
            type="number"
            min={0.01}
            step="any"
            {...field("due")}
            hint="Counted from when the step is ready; after that it is stale."
          />
        </div>
        <TextField
          label="Expected artifacts"
          {...field("brings")}
          placeholder="pull_request, file"
          hint="Kinds, separated by commas."
        />
      </div>
    </details>
  );
}
