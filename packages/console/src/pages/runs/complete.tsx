import type { RunsCompleteStepParams, RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { base64 } from "../../data/base64.ts";
import { bytes } from "../../data/format.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useSaving } from "../../data/use-task.ts";
import { CheckField, TextArea } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import "../../styles/choice.css";
import type { Step } from "./step.ts";

interface Props {
  run: RunWithAttempts;
  step: Step;
  onClose(): void;
  reload(): Promise<void>;
}

/** Limit of a request's evidence, in base64 (runs.complete_step). */
const MAX_EVIDENCE = 4 * 1_048_576;

/** Completes a step, or attests those of its criteria that are met. */
export function CompleteDialog({ run, step, onClose, reload }: Props) {
  const open = step.completion_criteria.filter(({ key }) => !step.attested_criteria.includes(key));
  const [{ checked, what, file }, field] = useDraft({
    checked: [] as string[],
    what: "",
    file: null as File | null,
  });
  // Others may attest a criterion while this is open.
  const met = checked.filter((each) => open.some(({ key }) => key === each));
  const whole = open.length === 0 || met.length === open.length;
  const complete = useSaving({ onClose, onDone: reload }, async () => {
    const evidence = file ? await evidenceOf(run.id, file) : {};
    const which = { run_id: run.id, step_key: step.step_key };
    const said = { ...which, ...(what.trim() && { what_makes_this_done: what.trim() }) };
    // If all are met, one request completes the step atomically.
    const isDone = await attest(said, whole ? [undefined] : met, evidence);
    return isDone ? "All steps are done." : whole ? `Completed: ${step.title}` : "Attested.";
  });
  return (
    <FormDialog
      title={`Complete “${step.title}”`}
      submit={whole ? "Complete step" : "Attest selected"}
      disabled={(open.length > 0 && met.length === 0) || isTooLarge(file)}
      onClose={onClose}
      task={complete}
    >
      {open.length > 0 && (
        <fieldset className="criteria-choice">
          <legend>Criteria met</legend>
          {open.map(({ key, description }) => (
            <CheckField
              key={key}
              label={description || key}
              checked={met.includes(key)}
              onChange={(on) =>
                field("checked").onChange(on ? [...met, key] : met.filter((each) => each !== key))
              }
            />
          ))}
        </fieldset>
      )}
      <TextArea label="What was done" {...field("what")} rows={3} hint="Shown in the retrospective." />
      <Evidence {...field("file")} />
    </FormDialog>
  );
}

type Completion = Omit<RunsCompleteStepParams, "criterion_key" | "artifact_contents">;
type Contents = Pick<RunsCompleteStepParams, "artifact_contents">;

/** Attests each criterion, the first with the evidence. Returns whether that completed the run. */
async function attest(said: Completion, keys: (string | undefined)[], evidence: Contents): Promise<boolean> {
  let completed = false;
  for (const [at, criterion_key] of keys.entries()) {
    const given = { ...said, ...(criterion_key && { criterion_key }), ...(at === 0 && evidence) };
    completed = (await api.runs.completeStep(given)).run_completed;
  }
  return completed;
}

const isTooLarge = (file: File | null) => file !== null && file.size > MAX_EVIDENCE;

function Evidence({ value: file, onChange }: { value: File | null; onChange(file: File | null): void }) {
  return (
    <div className="field">
      <label htmlFor="evidence">Evidence</label>
      <input
        id="evidence"
        className="input"
        type="file"
        onChange={(event) => onChange(event.target.files?.[0] ?? null)}
      />
      <p className={isTooLarge(file) ? "field-error" : "field-hint"}>
        {file && isTooLarge(file) ? `The file is too large (${bytes(file.size)}): ` : "Stored as a copy: "}
        at most {bytes(MAX_EVIDENCE)}.
      </p>
    </div>
  );
}

async function evidenceOf(run_id: string, file: File) {
  const mime_type = file.type || "application/octet-stream";
  const pointer = { display_name: file.name };
  const [artifact, content_base64] = await Promise.all([
    api.runs.registerArtifact({ run_id, kind: "file", pointer, mime_type }),
    base64(file),
  ]);
  return { artifact_contents: [{ artifact_id: artifact.id, content_base64, mime_type }] };
}
