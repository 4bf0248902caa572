import { Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { type DraftStep, freeKey, renamed, slugOf, waitsFor } from "./draft.ts";
import "../../styles/choice.css";

interface Props {
  step: DraftStep;
  steps: DraftStep[];
  onChange(steps: DraftStep[]): void;
  onRemove(step: DraftStep): void;
}

const MODES = [
  { value: "attestation", label: "The assignee attests that it is done" },
  { value: "handoff_accepted", label: "The next assignee accepts the handoff" },
];

export function StepForm({ step, steps, onChange, onRemove }: Props) {
  // Until edited, the key follows the title.
  const [ownKey, setOwnKey] = useState(step.title !== "");
  const others = steps.filter(({ id }) => id !== step.id);
  const change = (to: Partial<DraftStep>) =>
    onChange(steps.map((each) => (each.id === step.id ? { ...each, ...to } : each)));
  const title = (text: string) => {
    const titled = steps.map((each) => (each.id === step.id ? { ...each, title: text } : each));
    const key = slugOf(text);
    onChange(ownKey || !key ? titled : renamed(titled, step.id, freeKey(key, others)));
  };
  const depend = (key: string, on: boolean) =>
    change({ depends_on: on ? [...step.depends_on, key] : step.depends_on.filter((each) => each !== key) });
  const taken = others.some(({ step_key }) => step_key === step.step_key);
  return (
    <Card
      title="Step"
      actions={
        steps.length > 1 && (
          <Button small icon={Trash2} onClick={() => onRemove(step)}>
            Remove
          </Button>
        )
      }
    >
      <div className="stack">
        <TextField label="Title" value={step.title} onChange={title} maxLength={500} required />
        <div className="grid-2">
          <TextField
            label="Key"
            value={step.step_key}
            required
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            error={taken ? "Another step has this key." : undefined}
            onChange={(key) => {
              setOwnKey(true);
              onChange(renamed(steps, step.id, key));
            }}
          />
          <TextField
            label="Role"
            value={step.role}
            onChange={(role) => change({ role })}
            placeholder="writer"
          />
        </div>
        <TextArea
          label="Instructions"
          value={step.instructions}
          onChange={(instructions) => change({ instructions })}
          rows={4}
          hint="Markdown."
        />
        {others.length > 0 && (
          <fieldset className="criteria-choice">
            <legend>Waits for</legend>
            {others.map((other) => {
              const circle = waitsFor(steps, other.step_key, step.step_key);
              return (
                <CheckField
                  key={other.id}
                  label={other.title || other.step_key}
                  hint={circle ? "waits for this one" : undefined}
                  checked={step.depends_on.includes(other.step_key)}
                  disabled={circle}
                  onChange={(on) => depend(other.step_key, on)}
                />
              );
            })}
          </fieldset>
        )}
        <SelectField
          label="It is done when"
          value={step.completion_mode}
          options={MODES}
          onChange={(value) => change({ completion_mode: value as DraftStep["completion_mode"] })}
        />
        <TextArea
          label="What makes it done"
          value={step.criteria}
          onChange={(criteria) => change({ criteria })}
          rows={3}
          placeholder="reviewed: A second pair of eyes has read it."
          hint="One criterion a line; each is attested on its own."
        />
        <details className="more-fields">
          <summary>Specialist, due time and what it brings forth</summary>
          <div className="stack">
            <div className="grid-2">
              <TextField
                label="Specialist"
                value={step.specialist}
                onChange={(specialist) => change({ specialist })}
                placeholder="release-writer"
                hint="Its brief goes with the step."
              />
              <TextField
                label="Due in hours"
                type="number"
                min={0.01}
                step="any"
                value={step.due}
                onChange={(due) => change({ due })}
                hint="After it became ready; then it is stale."
              />
            </div>
            <TextField
              label="Brings forth"
              value={step.brings}
              onChange={(brings) => change({ brings })}
              placeholder="pull_request, file"
              hint="Kinds of artifacts, separated by commas."
            />
          </div>
        </details>
      </div>
    </Card>
  );
}
