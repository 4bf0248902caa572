import { useRef, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { isApiError, type ProcessTemplate } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/queries.ts";
import { StepGraph } from "../../graph/step-graph.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { shownOf } from "../../ui/form.tsx";
import { Form, mayOverwrite, useUnsaved } from "../../ui/form-dialog.tsx";
import { Plus, Trash2 } from "../../ui/icons.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import {
  type Draft,
  type DraftStep,
  dependent,
  draftOf,
  emptyDraft,
  freeKey,
  newStep,
  renamed,
  STEP,
  slugOf,
  TEMPLATE,
  templateOf,
  waitsFor,
  whyNot,
  without,
} from "./draft.ts";
import "./templates.css";
import "../../styles/choice.css";

export function AuthorTemplate() {
  return (
    <Page title="New template" above={{ "/templates": "Templates" }}>
      <Author />
    </Page>
  );
}

export function EditTemplate() {
  const { slug = "" } = useParams();
  const loaded = useRead(api.templates.get, { slug });
  const above = { "/templates": "Templates", [`/templates/${slug}`]: loaded.data?.name ?? slug };
  return (
    <Page title="New version" above={above} lead="Earlier versions and their runs are unchanged.">
      <Load of={loaded} lines={8}>
        {(template) => <Author key={template.slug} of={template} />}
      </Load>
    </Page>
  );
}

/** Returns whether no other version was created meanwhile, or the person wants to replace it. */
async function isStillLatest(slug: string, before: ProcessTemplate | undefined): Promise<boolean> {
  const now = await api.templates.get({ slug }).catch((error) => {
    if (isApiError(error, "not_found")) return undefined;
    throw error;
  });
  if (!now || now.version_num === before?.version_num) return true;
  const text = before
    ? `Someone has saved version ${now.version_num} since you opened this page. Yours becomes the next version, without those changes.`
    : `A template with this slug exists: ${now.name}. Yours becomes its version ${now.version_num + 1}.`;
  return mayOverwrite(text, `/templates/${slug}`);
}

function Author({ of }: { of?: ProcessTemplate }) {
  const [before] = useState(of);
  const [start] = useState(() => (before ? draftOf(before) : emptyDraft()));
  const [draft, setDraft] = useState(start);
  const change = (to: Partial<Draft>) => setDraft((old) => ({ ...old, ...to }));
  const { show } = shownOf(TEMPLATE, draft, (name, text) => change({ [name]: text }));
  const saved = useRef(start);
  useUnsaved(() => draft !== saved.current);
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    if (!(await isStillLatest(draft.slug, before))) return;
    const made = await api.templates.author(templateOf(draft));
    saved.current = draft;
    toast({ title: `Saved ${made.name} as version ${made.version_num}.` });
    navigate(`/templates/${made.slug}`);
  });
  return (
    <Form
      task={save}
      submit={before ? "Save version" : "Create template"}
      others={<Button label="Cancel" onClick={() => navigate(-1)} />}
      sticky
    >
      <Card>
        <div className="grid-2">
          <Names draft={draft} change={change} isFixed={before !== undefined} />
          {show("description")}
          {show("goal_template")}
        </div>
      </Card>
      <Steps steps={draft.steps} onChange={(steps) => change({ steps })} />
    </Form>
  );
}

type NamesProps = { draft: Draft; change(to: Partial<Draft>): void; isFixed: boolean };

/** The name and the slug, which follows the name until edited, or is fixed. */
function Names({ draft, change, isFixed }: NamesProps) {
  const [ownSlug, setOwnSlug] = useState(isFixed);
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        required
        maxLength={200}
        onChange={(name) => change(ownSlug ? { name } : { name, slug: slugOf(name) })}
      />
      <TextField
        label="Slug"
        value={draft.slug}
        required
        readOnly={isFixed}
        pattern="[a-z0-9]+(-[a-z0-9]+)*"
        title="Lower-case letters, digits and single hyphens"
        hint={
          isFixed ? "Identifies the template. Cannot be changed." : "An existing slug gets a new version."
        }
        onChange={(slug) => {
          setOwnSlug(true);
          change({ slug });
        }}
      />
    </>
  );
}

function Steps({ steps, onChange }: { steps: DraftStep[]; onChange(steps: DraftStep[]): void }) {
  const [chosen, setChosen] = useState(steps[0]?.id);
  const step = steps.find(({ id }) => id === chosen);
  const add = () => {
    const added = newStep(step, steps);
    onChange([...steps, added]);
    setChosen(added.id);
  };
  const [refusal, setRefusal] = useState<string>();
  const connect = (from: string, to: string) => {
    const reason = whyNot(steps, from, to);
    setRefusal(reason);
    if (!reason) onChange(dependent(steps, from, to, true));
  };
  const disconnect = (from: string, to: string) => {
    setRefusal(undefined);
    onChange(dependent(steps, from, to, false));
    toast({ title: `Removed: ${to} no longer depends on ${from}.` });
  };
  const remove = (gone: DraftStep) => {
    const left = without(steps, gone.id);
    onChange(left);
    setChosen(left[0]?.id);
  };
  return (
    <div className="sides with-form">
      <div className="stack tight">
        <div className="row">
          <h2 className="grow">Steps</h2>
          <Button
            label={step ? `Add step after “${step.title || step.step_key}”` : "Add step"}
            small
            icon={Plus}
            onClick={add}
          />
        </div>
        <StepGraph
          steps={steps}
          selected={step?.step_key ?? null}
          onSelect={(key) => setChosen(steps.find(({ step_key }) => step_key === key)?.id)}
          onConnect={connect}
          onRemove={disconnect}
          height={460}
        />
        <div role="alert">{refusal && <p className="field-error">{refusal}</p>}</div>
        <p className="field-hint">
          Drag from the dot after a step to the step that depends on it; click a line to remove it. By
          keyboard, use “Depends on” in the form of the step.
        </p>
      </div>
      {step && <StepForm key={step.id} step={step} steps={steps} onChange={onChange} onRemove={remove} />}
    </div>
  );
}

interface Props {
  step: DraftStep;
  steps: DraftStep[];
  onChange(steps: DraftStep[]): void;
  onRemove(step: DraftStep): void;
}

function StepForm({ step, steps, onChange, onRemove }: Props) {
  // Until edited, the key follows the title.
  const [ownKey, setOwnKey] = useState(step.title !== "");
  const others = steps.filter(({ id }) => id !== step.id);
  const changed = (to: Partial<DraftStep>) =>
    steps.map((each) => (each.id === step.id ? { ...each, ...to } : each));
  const { show, grid } = shownOf(STEP, step, (name, text) => onChange(changed({ [name]: text })));
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
          {show("role")}
        </div>
        {show("instructions")}
        {others.length > 0 && (
          <fieldset className="criteria-choice">
            <legend>Depends on</legend>
            {others.map((other) => {
              const circle = waitsFor(steps, other.step_key, step.step_key);
              return (
                <CheckField
                  key={other.id}
                  label={other.title || other.step_key}
                  hint={circle ? "Depends on this step" : undefined}
                  checked={step.depends_on.includes(other.step_key)}
                  disabled={circle}
                  onChange={(on) => onChange(dependent(steps, other.step_key, step.step_key, on))}
                />
              );
            })}
          </fieldset>
        )}
        {show("completion_mode")}
        {show("completion_criteria")}
        <details className="more-fields">
          <summary>Event and deadline</summary>
          <div className="stack">
            {show("awaited")}
            {show("filter")}
            {grid("deadline_seconds", "on_deadline")}
          </div>
        </details>
        <details className="more-fields">
          <summary>Specialist, due date and artifacts</summary>
          <div className="stack">
            {grid("specialist_name", "due_in_seconds")}
            {show("expected_artifact_kinds")}
          </div>
        </details>
      </div>
    </Card>
  );
}
