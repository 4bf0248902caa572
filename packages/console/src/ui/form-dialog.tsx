import { type FormEvent, useId, useRef } from "react";
import type { Task } from "../data/use-task.ts";
import { Button } from "./button.tsx";
import { confirm } from "./confirm.tsx";
import { Dialog, type DialogProps } from "./dialog.tsx";
import { Failure } from "./failure.tsx";

/** The props of a dialog that saves something: after that it closes, and calls `onDone`. */
export interface SavingProps {
  onClose(): void;
  onDone(): unknown;
}

interface FormDialogProps extends Omit<DialogProps, "footer" | "light"> {
  submit: string;
  task: Task<[]>;
  /** Replaces the task's error; null if a field shows it. */
  error?: unknown;
  disabled?: boolean;
  /** It deletes something permanently. */
  danger?: boolean;
}

const LEAVE = {
  title: "Close without saving?",
  text: "Your text will be lost.",
  action: "Discard",
};

/** A dialog with a form. Errors appear above the buttons. Escape asks before a text is lost. */
export function FormDialog({
  submit,
  task,
  error = task.error,
  disabled,
  danger,
  children,
  ...dialog
}: FormDialogProps) {
  const form = useId();
  const written = useRef(false);
  const leave = async () => {
    if (!written.current || (await confirm(LEAVE))) dialog.onClose();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    void task.run();
  };
  const footer = (
    <>
      <Button label="Cancel" onClick={dialog.onClose} />
      <Button
        label={submit}
        kind={danger ? "danger" : "primary"}
        type="submit"
        form={form}
        busy={task.busy}
        disabled={disabled}
      />
    </>
  );
  return (
    <Dialog {...dialog} onClose={leave} footer={footer}>
      <form
        id={form}
        className="stack"
        onSubmit={send}
        onInput={({ target }) => {
          written.current ||= target instanceof HTMLTextAreaElement;
        }}
      >
        {children}
        {error !== undefined && error !== null && <Failure error={error} />}
      </form>
    </Dialog>
  );
}
