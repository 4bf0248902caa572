import { useEffect, useState } from "react";
import type { Position, RunAction } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import type { Loaded } from "../../data/queries.ts";
import { STEP_STATUS } from "../../graph/step-graph.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CheckField, TextArea } from "../../ui/field.tsx";
import { combo, useForm } from "../../ui/form.tsx";
import { ActButton, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Check, Play, RotateCcw, SkipForward, UserRound } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { toast, useSaving, useTask } from "../../ui/task.tsx";
import { Badge, Time, Who } from "../../ui/text.tsx";
import { AT_DEADLINE, completedBy } from "../templates/step-words.ts";
import { CompleteDialog, Offers } from "./complete.tsx";
import { useFindAssignee } from "./runs.tsx";
import { Actions, type StepProps } from "./words.tsx";
import "../../styles/choice.css";

interface Props extends StepProps {
  position: Position;
  history: Loaded<RunAction[]>;
  choose(key: string): void;
  hold(key: string | null): void;
}

export function StepPanel({ run, step, position, history, choose, hold }: Props) {
  const at = [...position.ready_steps, ...position.blocked_steps].find(
    ({ step_key }) => step_key === step.step_key,
  );
  return (
    <Card
      title={
        <span className="row">
          {step.title}
          <Badge label={capitalised(step.status)} tone={STEP_STATUS[step.status].tone} />
        </span>
      }
      actions={run.status !== "closed" && <StepActions {...{ run, step, hold }} />}
    >
      <div className="sides with-facts">
        <div className="stack">
          {at?.waiting_on.length ? (
            <p className="muted">
              Waiting for{" "}
              {at.waiting_on.map((key) => (
                <button key={key} type="button" className="link-button" onClick={() => choose(key)}>
                  {run.steps.find((each) => each.step_key === key)?.title ?? key}
                </button>
              ))}
            </p>
          ) : null}
          {step.wait_for && step.waiting_since && (
            <p className="muted">
              Waits for <code>{step.wait_for.event_type}</code> since <Time at={step.waiting_since} />.
            </p>
          )}
          {step.instructions ? (
            <Markdown>{step.instructions}</Markdown>
          ) : (
            <p className="muted">No instructions.</p>
          )}
          {step.completion_criteria.length > 0 && (
            <Criteria run={run} step={step} keep={() => choose(step.step_key)} />
          )}
          <Offers run={run} step={step} />
          <StepHistory step={step} history={history} />
        </div>
        <Facts
          of={{
            Key: <code>{step.step_key}</code>,
            Role: step.role,
            "Assigned to": step.assigned_user_id && <Who id={step.assigned_user_id} />,
            Specialist: step.specialist_name,
            "Completed by": completedBy(step),
            Filter: step.wait_for?.filter_expression && <code>{step.wait_for.filter_expression}</code>,
            Deadline: step.deadline_at && <Time at={step.deadline_at} />,
            "At the deadline": step.deadline_seconds && AT_DEADLINE[step.on_deadline],
            "Expected artifacts": step.expected_artifact_kinds.join(", "),
            Reference:
              step.reference_pointer &&
              (step.reference_pointer.display_name ??
                step.reference_pointer.uri ??
                step.reference_pointer.native_id),
            "Reference note": step.reference_note,
          }}
        />
      </div>
    </Card>
  );
}

/** The history of the step: its attempts, its evidence, and why it was skipped or reopened. */
function StepHistory({ step, history }: Pick<Props, "step" | "history">) {
  const { data: actions = [], error, reload } = history;
  const own = actions.filter(({ step_key }) => step_key === step.step_key);
  if (error !== undefined) return <Failure error={error} retry={reload} />;
  if (own.length === 0) return null;
  return (
    <section className="stack tight">
      <h3>History</h3>
      <Actions label={`History of ${step.title}`} actions={own.toReversed()} />
    </section>
  );
}

interface CriteriaProps extends StepProps {
  /** Keeps the step selected, also when the last criterion completes it. */
  keep(): void;
}

/** The completion criteria of a step. Ticking one attests it; the last one completes the step. */
function Criteria({ run, step, keep }: CriteriaProps) {
  const { completion_criteria: criteria, attested_criteria: attested } = step;
  const left = criteria.length - attested.length;
  const attest = useTask(async (criterion_key: string) => {
    keep();
    const done = await api.runs.completeStep({ run_id: run.id, step_key: step.step_key, criterion_key });
    if (done.run_completed) toast({ title: "All steps are done." });
    else if (left === 1) toast({ title: `Completed: ${step.title}` });
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

/** The actions that the step's status allows. Calls `hold` during an action, to keep the step selected. */
function StepActions({ run, step, hold }: StepProps & { hold(key: string | null): void }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  useEffect(() => {
    hold(open && step.step_key);
    return () => hold(null);
  }, [open, step.step_key, hold]);
  const OpenDialog = open && DIALOGS[open];
  const workable = step.status === "ready" || step.status === "in_progress";
  const done = step.status === "completed" || step.status === "skipped";
  const byHandoff = step.completion_mode === "handoff_accepted" && step.completion_criteria.length === 0;
  return (
    <>
      {!done && <Button label="Assign" small icon={UserRound} onClick={() => setOpen("assign")} />}
      {!done && <Button label="Skip" small icon={SkipForward} onClick={() => setOpen("skip")} />}
      {step.status === "ready" && (
        <ActButton
          label="Start"
          small
          kind={byHandoff ? "primary" : "plain"}
          icon={Play}
          act={() => api.runs.startStep({ run_id: run.id, step_key: step.step_key })}
          done={({ warning }) => warning ?? `Started: ${step.title}`}
        />
      )}
      {workable && !byHandoff && (
        <Button label="Complete" small kind="primary" icon={Check} onClick={() => setOpen("complete")} />
      )}
      {done && <Button label="Reopen" small icon={RotateCcw} onClick={() => setOpen("reopen")} />}
      {OpenDialog && <OpenDialog run={run} step={step} onClose={() => setOpen(null)} />}
    </>
  );
}

type DialogProps = StepProps & SavingProps;

const ASSIGNED = { person: combo("Person", { none: "Anyone" }) };

function AssignDialog({ run, step, onClose }: DialogProps) {
  const before = step.assigned_user_id;
  const form = useForm(ASSIGNED, { person: before });
  const { person } = form.drafts;
  const find = useFindAssignee();
  const assign = useSaving(onClose, async () => {
    const assigned_user_id = person?.id ?? null;
    await api.runs.assignStep({ run_id: run.id, step_key: step.step_key, assigned_user_id });
    return person ? `${step.title}: assigned to ${person.label}.` : `${step.title}: unassigned.`;
  });
  return (
    <FormDialog
      title={`Assign “${step.title}”`}
      submit="Assign"
      disabled={(person?.id ?? null) === before}
      onClose={onClose}
      task={assign}
    >
      {form.show("person", { find })}
    </FormDialog>
  );
}

function SkipDialog({ run, step, ...dialog }: DialogProps) {
  const waiting = run.steps
    .filter(({ depends_on }) => depends_on.includes(step.step_key))
    .map(({ title }) => title);
  return (
    <ReasonDialog
      {...dialog}
      title={`Skip “${step.title}”?`}
      text={
        waiting.length > 0
          ? `These steps no longer wait for it: ${waiting.join(", ")}. You can reopen it later.`
          : "No step depends on it. You can reopen it later."
      }
      submit="Skip step"
      act={async (reason) => {
        const which = { run_id: run.id, step_key: step.step_key };
        const { run_completed } = await api.runs.skipStep({ ...which, reason });
        return run_completed ? "Skipped. All steps are done." : `Skipped: ${step.title}`;
      }}
    />
  );
}

function ReopenDialog({ run, step, ...dialog }: DialogProps) {
  return (
    <ReasonDialog
      {...dialog}
      title={`Reopen “${step.title}”?`}
      text="Dependent steps that are ready are blocked again. Steps that are further along are unchanged."
      submit="Reopen step"
      act={async (reason) => {
        const which = { run_id: run.id, step_key: step.step_key };
        const { demoted_successors: demoted } = await api.runs.reopenStep({ ...which, reason });
        const blocked = demoted.map(({ title }) => title).join(", ");
        return blocked ? `Reopened. Blocked again: ${blocked}.` : `Reopened: ${step.title}`;
      }}
    />
  );
}

interface ReasonProps extends Pick<DialogProps, "onClose"> {
  title: string;
  text: string;
  submit: string;
  /** Returns what was done. */
  act(reason: string): Promise<string>;
}

function ReasonDialog({ text, act, onClose, ...words }: ReasonProps) {
  const [reason, setReason] = useState("");
  const task = useSaving(onClose, () => act(reason.trim()));
  const field = { label: "Reason", required: true, rows: 3, hint: "Recorded in the run's history." };
  return (
    <FormDialog {...words} disabled={!reason.trim()} onClose={onClose} task={task}>
      <p className="muted">{text}</p>
      <TextArea {...field} value={reason} onChange={setReason} />
    </FormDialog>
  );
}

const DIALOGS = { assign: AssignDialog, complete: CompleteDialog, skip: SkipDialog, reopen: ReopenDialog };
