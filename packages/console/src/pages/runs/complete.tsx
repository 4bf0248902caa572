import { useState } from "react";
import type { RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { base64 } from "../../data/base64.ts";
import { bytes } from "../../data/format.ts";
import { useFormTask } from "../../data/use-task.ts";
import { CheckField, TextArea } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";
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
  const [checked, setChecked] = useState<string[]>([]);
  // Others may attest a criterion while this is open.
  const met = checked.filter((each) => open.some(({ key }) => key === each));
  const [what, setWhat] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const whole = open.length === 0 || met.length === open.length;
  const tooLarge = file !== null && file.size > MAX_EVIDENCE;

  const complete = useFormTask(async () => {
    const evidence = file ? await evidenceOf(run.id, file) : {};
    const said = {
      run_id: run.id,
      step_key: step.step_key,
      ...(what.trim() && { what_makes_this_done: what.trim() }),
    };
    // If all are met, one request completes the step atomically.
    const keys = whole ? [undefined] : met;
    let completed = false;
    for (const [at, criterion_key] of keys.entries()) {
      const answer = await api.runs.completeStep({
        ...said,
        ...(criterion_key && { criterion_key }),
        ...(at === 0 && evidence),
      });
      completed = answer.run_completed;
    }
    toast({ title: completed ? "Every step is done." : whole ? `Completed: ${step.title}` : "Attested." });
    onClose();
    await reload();
  });
  return (
    <FormDialog
      title={`Complete “${step.title}”`}
      submit={whole ? "Complete the step" : "Attest these"}
      disabled={(open.length > 0 && met.length === 0) || tooLarge}
      onClose={onClose}
      task={complete}
    >
      {open.length > 0 && (
        <fieldset className="criteria-choice">
          <legend>Which of these are met?</legend>
          {open.map(({ key, description }) => (
            <CheckField
              key={key}
              label={description || key}
              checked={met.includes(key)}
              onChange={(on) => setChecked(on ? [...met, key] : met.filter((each) => each !== key))}
            />
          ))}
        </fieldset>
      )}
      <TextArea
        label="What makes this done"
        value={what}
        onChange={setWhat}
        rows={3}
        hint="For readers of the retrospective."
      />
      <div className="field">
        <label htmlFor="evidence">Evidence</label>
        <input
          id="evidence"
          className="input"
          type="file"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        />
        <p className={tooLarge ? "field-error" : "field-hint"}>
          {tooLarge ? `The file has ${bytes(file.size)}; ` : "A file that is kept as it is now; "}at most{" "}
          {bytes(MAX_EVIDENCE)}.
        </p>
      </div>
    </FormDialog>
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
