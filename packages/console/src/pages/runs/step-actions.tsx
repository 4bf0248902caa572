import { useEffect, useState } from "react";
import type { RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useNames } from "../../data/use-names.ts";
import { useSaving, useTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { TextArea } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Check, Play, RotateCcw, SkipForward, UserRound } from "../../ui/icons.tsx";
import { toast } from "../../ui/toast.tsx";
import { useFindAssignee } from "./assignees.tsx";
import { CompleteDialog } from "./complete.tsx";
import type { Step } from "./step.ts";

interface Props {
  run: RunWithAttempts;
  step: Step;
  reload(): Promise<void>;
}

/** The actions that the step's status allows. Calls `hold` during an action, to keep the step selected. */
export function StepActions({ run, step, reload, hold }: Props & { hold(key: string | null): void }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  useEffect(() => {
    hold(open && step.step_key);
    return () => hold(null);
  }, [open, step.step_key, hold]);
  const start = useTask(async () => {
    const attempt = await api.runs.startStep({ run_id: run.id, step_key: step.step_key });
    toast({ title: attempt.warning ?? `Started: ${step.title}` });
    await reload();
  });
  const OpenDialog = open && DIALOGS[open];
  const workable = step.status === "ready" || step.status === "in_progress";
  const done = step.status === "completed" || step.status === "skipped";
  const byHandoff = step.completion_mode === "handoff_accepted" && step.completion_criteria.length === 0;
  return (
    <>
      {!done && <Button label="Assign" small icon={UserRound} onClick={() => setOpen("assign")} />}
      {!done && <Button label="Skip" small icon={SkipForward} onClick={() => setOpen("skip")} />}
      {step.status === "ready" && (
        <Button
          label="Start"
          small
          kind={byHandoff ? "primary" : "plain"}
          icon={Play}
          busy={start.busy}
          onClick={() => start.run()}
        />
      )}
      {workable && !byHandoff && (
        <Button label="Complete" small kind="primary" icon={Check} onClick={() => setOpen("complete")} />
      )}
      {done && <Button label="Reopen" small icon={RotateCcw} onClick={() => setOpen("reopen")} />}
      {OpenDialog && <OpenDialog run={run} step={step} onClose={() => setOpen(null)} reload={reload} />}
    </>
  );
}

type DialogProps = Props & { onClose(): void };

function AssignDialog({ run, step, onClose, reload }: DialogProps) {
  const nameOf = useNames();
  const before = step.assigned_user_id;
  const [person, setPerson] = useState<Choice | null>(before ? { id: before, label: "" } : null);
  // Names load later than ids.
  const named = person && { ...person, label: person.label || nameOf(person.id) };
  const find = useFindAssignee();
  const assign = useSaving({ onClose, onDone: reload }, async () => {
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
      <Combo label="Person" value={named} onChange={setPerson} find={find} none="Anyone" />
    </FormDialog>
  );
}

function SkipDialog({ run, step, onClose, reload }: DialogProps) {
  const waiting = run.steps
    .filter(({ depends_on }) => depends_on.includes(step.step_key))
    .map(({ title }) => title);
  const skip = async (reason: string) => {
    const { run_completed } = await api.runs.skipStep({ run_id: run.id, step_key: step.step_key, reason });
    toast({ title: run_completed ? "Skipped. All steps are done." : `Skipped: ${step.title}` });
    await reload();
  };
  const text =
    waiting.length > 0
      ? `These steps no longer wait for it: ${waiting.join(", ")}. You can reopen it later.`
      : "No step depends on it. You can reopen it later.";
  return (
    <ReasonDialog
      title={`Skip “${step.title}”?`}
      text={text}
      submit="Skip step"
      act={skip}
      onClose={onClose}
    />
  );
}

function ReopenDialog({ run, step, onClose, reload }: DialogProps) {
  const reopen = async (reason: string) => {
    const { demoted_successors: demoted } = await api.runs.reopenStep({
      run_id: run.id,
      step_key: step.step_key,
      reason,
    });
    const blocked = demoted.map(({ title }) => title).join(", ");
    toast({ title: blocked ? `Reopened. Blocked again: ${blocked}.` : `Reopened: ${step.title}` });
    await reload();
  };
  return (
    <ReasonDialog
      title={`Reopen “${step.title}”?`}
      text="Dependent steps that are ready are blocked again. Steps that are further along are unchanged."
      submit="Reopen step"
      act={reopen}
      onClose={onClose}
    />
  );
}

interface ReasonProps {
  title: string;
  text: string;
  submit: string;
  act(reason: string): Promise<void>;
  onClose(): void;
}

function ReasonDialog({ title, text, submit, act, onClose }: ReasonProps) {
  const [reason, setReason] = useState("");
  const task = useSaving({ onClose }, async () => {
    await act(reason.trim());
  });
  return (
    <FormDialog title={title} submit={submit} disabled={!reason.trim()} onClose={onClose} task={task}>
      <p className="muted">{text}</p>
      <TextArea
        label="Reason"
        value={reason}
        onChange={setReason}
        required
        rows={3}
        hint="Recorded in the run's history."
      />
    </FormDialog>
  );
}

const DIALOGS = { assign: AssignDialog, complete: CompleteDialog, skip: SkipDialog, reopen: ReopenDialog };
