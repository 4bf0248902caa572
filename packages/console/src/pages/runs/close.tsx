import { Flag } from "lucide-react";
import { useState } from "react";
import type { RunWithAttempts } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useSaving } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField, TextArea } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";

const OUTCOMES = [
  { value: "achieved", label: "Achieved" },
  { value: "partially_achieved", label: "Partially achieved" },
  { value: "abandoned", label: "Abandoned" },
] as const;

export function CloseRun({ run, reload }: { run: RunWithAttempts; reload(): Promise<void> }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        kind={run.status === "completed" ? "primary" : "plain"}
        icon={Flag}
        onClick={() => setOpen(true)}
      >
        Close run
      </Button>
      {open && <CloseDialog run={run} onClose={() => setOpen(false)} onDone={reload} />}
    </>
  );
}

function CloseDialog({ run, onClose, onDone }: SavingProps & { run: RunWithAttempts }) {
  const [{ outcome, note }, field] = useDraft({
    outcome: (run.status === "completed" ? "achieved" : "abandoned") as (typeof OUTCOMES)[number]["value"],
    note: "",
  });
  const open = run.steps.filter(({ status }) => status !== "completed" && status !== "skipped").length;
  const close = useSaving({ onClose, onDone }, async () => {
    await api.runs.close({ run_id: run.id, outcome, ...(note.trim() && { note: note.trim() }) });
    return "Run closed. Its retrospective is available.";
  });
  return (
    <FormDialog title="Close this run?" submit="Close run" onClose={onClose} task={close}>
      <p className="muted">
        A closed run cannot be changed or reopened.
        {open > 0 && ` Steps not done: ${open} of ${run.steps.length}.`}
      </p>
      <SelectField label="Outcome" {...field("outcome")} options={OUTCOMES} />
      <TextArea label="Note" {...field("note")} hint="The result. Optional." />
    </FormDialog>
  );
}
