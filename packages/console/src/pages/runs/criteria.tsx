import type { RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useTask } from "../../data/use-task.ts";
import { CheckField } from "../../ui/field.tsx";
import { toast } from "../../ui/toast.tsx";
import "../../styles/choice.css";
import type { Step } from "./step.ts";

interface Props {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
  /** Keeps the step selected, also when the last criterion completes it. */
  keep(): void;
}

/** The completion criteria of a step. Ticking one attests it; the last one completes the step. */
export function Criteria({ run, step, reload, keep }: Props) {
  const { completion_criteria: criteria, attested_criteria: attested } = step;
  const left = criteria.length - attested.length;
  const attest = useTask(async (criterion_key: string) => {
    keep();
    const done = await api.runs.completeStep({ run_id: run.id, step_key: step.step_key, criterion_key });
    if (done.run_completed) toast({ title: "All steps are done." });
    else if (left === 1) toast({ title: `Completed: ${step.title}` });
    await reload();
  });
  const isOpen = run.status !== "closed" && (step.status === "ready" || step.status === "in_progress");
  return (
    <fieldset className="criteria-choice">
      <legend>Completion criteria</legend>
      {criteria.map(({ key, description }) => {
        const met = attested.includes(key);
        return (
          <CheckField
            key={key}
            label={description || key}
            checked={met}
            disabled={!isOpen && !met}
            fixed={met || attest.busy}
            onChange={() => attest.run(key)}
          />
        );
      })}
      {isOpen && (
        <p className="field-hint">
          Ticking a criterion records that it is met, in your name. The last one completes the step. Only
          reopening the step undoes it.
        </p>
      )}
    </fieldset>
  );
}
