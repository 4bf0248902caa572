import { type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";
import { useNavigate } from "react-router";
import { type Task, useTask } from "../data/use-task.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Trash2 } from "./icons.tsx";
import { toast } from "./toast.tsx";

interface Question {
  /** "Deactivate billing-bot?" */
  title: string;
  /** The consequences: "Its tokens stop working within 5 seconds; …". */
  text: ReactNode;
  /** The button's verb: "Deactivate". Never "OK". */
  action: string;
  /** It is destructive. Default true. */
  danger?: boolean;
}

/** Asks for confirmation of a consequential action; resolves to the answer. */
export function confirm(question: Question): Promise<boolean> {
  const place = document.body.appendChild(document.createElement("div"));
  const root = createRoot(place);
  return new Promise((resolve) => {
    const answer = (wanted: boolean) => {
      root.unmount();
      place.remove();
      resolve(wanted);
    };
    root.render(<Asking {...question} answer={answer} />);
  });
}

function Asking({
  title,
  text,
  action,
  danger = true,
  answer,
}: Question & { answer(wanted: boolean): void }) {
  const [answered, setAnswered] = useState(false);
  const give = (wanted: boolean) => {
    if (answered) return;
    setAnswered(true);
    // After the event is handled: the dialog first closes and returns the focus.
    queueMicrotask(() => answer(wanted));
  };
  const footer = (
    <>
      <Button label="Cancel" onClick={() => give(false)} autoFocus />
      <Button label={action} kind={danger ? "danger" : "primary"} onClick={() => give(true)} />
    </>
  );
  return (
    <Dialog light title={title} onClose={() => give(false)} footer={footer}>
      <div className="muted">{text}</div>
    </Dialog>
  );
}

interface Consequence extends Question {
  act(): Promise<unknown>;
  /** Said after it: "billing-bot deleted." */
  done?: string;
  after?(): unknown;
}

/** A task that a person confirms first. */
export const useConfirmed = <A extends unknown[]>(about: (...args: A) => Consequence): Task<A> =>
  useTask(async (...args: A) => {
    const { act, done, after, ...question } = about(...args);
    if (!(await confirm(question))) return;
    await act();
    if (done) toast({ title: done });
    await after?.();
  });

interface DeleteProps {
  name: string;
  /** The consequences. */
  text: string;
  /** The verb with its object. */
  action?: string;
  act(): Promise<unknown>;
  /** The page to go to afterwards. */
  to: string;
}

/** The button of a page that deletes what the page shows. */
export function DeleteButton({ name, action = "Delete", to, ...consequence }: DeleteProps) {
  const navigate = useNavigate();
  const remove = useConfirmed(() => ({
    ...consequence,
    title: `Delete ${name}?`,
    action,
    done: `${name} deleted.`,
    after: () => navigate(to),
  }));
  return (
    <Button label="Delete" kind="remove" icon={Trash2} busy={remove.busy} onClick={() => remove.run()} />
  );
}
