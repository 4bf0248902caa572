import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { type Location, useBeforeUnload, useBlocker, useNavigate } from "react-router";
import { Button, IconButton, type IconLook, type Look } from "./button.tsx";
import { Dialog, type DialogProps } from "./dialog.tsx";
import { Failure } from "./failure.tsx";
import { Trash2 } from "./icons.tsx";
import { submitting, type Task, toast, useTask } from "./task.tsx";

/** The props of a dialog that saves something: after that it closes. */
export interface SavingProps {
  onClose(): void;
}

interface FormDialogProps extends Pick<DialogProps, "title" | "onClose" | "wide"> {
  /** All its fields are shown, unless there are children. */
  form?: { rows(): ReactNode };
  children?: ReactNode;
  submit: string;
  task: Task<[]>;
  /** Replaces the task's error; null if a field shows it. */
  error?: unknown;
  disabled?: boolean;
  danger?: boolean;
}

const LEAVE = { title: "Close without saving?", text: "Your text will be lost.", action: "Discard" };

/** A dialog with a form. Errors appear above the buttons. Escape asks before a text is lost. */
export function FormDialog(props: FormDialogProps) {
  const { title, wide, onClose, form, children = form?.rows(), submit, disabled, danger } = props;
  const { task, error = task.error } = props;
  const id = useId();
  const written = useRef(false);
  const leave = async () => {
    if (!written.current || (await confirm(LEAVE))) onClose();
  };
  const footer = (
    <>
      <Button label="Cancel" onClick={onClose} />
      <Button
        label={submit}
        kind={danger ? "danger" : "primary"}
        type="submit"
        form={id}
        busy={task.busy}
        disabled={disabled}
      />
    </>
  );
  return (
    <Dialog {...{ title, wide, footer }} onClose={leave}>
      <form
        id={id}
        className="stack"
        onSubmit={submitting(task.run)}
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

interface FormProps {
  task: Task<[]>;
  submit: string;
  /** Text next to the button: its effect. */
  note?: ReactNode;
  others?: ReactNode;
  disabled?: boolean;
  /** The buttons stay in view while a long form is scrolled. */
  sticky?: boolean;
  className?: string;
  children: ReactNode;
}

/** A form on a page. Errors appear above its button. */
export function Form({ task, submit, note, others, disabled, sticky, className = "", children }: FormProps) {
  return (
    <form className={`stack ${className}`} onSubmit={submitting(task.run)}>
      {children}
      <div className={sticky ? "stack tight sticky-foot" : "stack"}>
        {task.error !== undefined && <Failure error={task.error} />}
        <div className="row">
          <Button label={submit} kind="primary" type="submit" busy={task.busy} disabled={disabled} />
          {others}
          {note && <span className="muted small">{note}</span>}
        </div>
      </div>
    </form>
  );
}

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

function Asking(props: Question & { answer(wanted: boolean): void }) {
  const { title, text, action, danger = true, answer } = props;
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

/** The action of a dialog: after a confirmation if it asks a question. */
export interface Act<T = unknown> extends Partial<Question> {
  act(): Promise<T>;
  /** Said after it: "billing-bot deleted." */
  done?: string | ((result: T) => string);
  after?(): unknown;
}

/** The task of something that a person may have to confirm first. */
export const useAct = <A extends unknown[], T>(about: (...args: A) => Act<T>): Task<A> =>
  useTask(async (...args: A) => {
    const { act, done, after, title, text, action = "", danger = true } = about(...args);
    if (title !== undefined && !(await confirm({ title, text, action, danger }))) return;
    const result = await act();
    if (done) toast({ title: typeof done === "string" ? done : done(result) });
    await after?.();
  });

/** The button of such a task. */
export function ActButton<T>(props: Look & Act<T> & { disabled?: boolean }) {
  const { label, icon, kind, small, disabled } = props;
  const task = useAct(() => props);
  return <Button {...{ label, icon, kind, small, disabled }} busy={task.busy} onClick={() => task.run()} />;
}

/** The same with only an icon. While busy it ignores clicks, but keeps the focus that the dialog returns. */
export function ActIcon<T>({ icon, label, ...about }: IconLook & Act<T>) {
  const { busy, run } = useAct(() => about);
  return (
    <IconButton icon={icon} label={label} aria-disabled={busy || undefined} onClick={() => busy || run()} />
  );
}

interface DeleteProps {
  name: string;
  text: string;
  action?: string;
  act(): Promise<unknown>;
  to: string;
}

export function DeleteButton({ name, action = "Delete", to, ...act }: DeleteProps) {
  const navigate = useNavigate();
  const words = { title: `Delete ${name}?`, action, done: `${name} deleted.` };
  return (
    <ActButton label="Delete" kind="remove" icon={Trash2} {...words} {...act} after={() => navigate(to)} />
  );
}

/**
 * Asks before overwriting changes that others made while a form was open.
 *
 * @param text these changes, and the effect of saving
 * @param look the page with the current state
 */
export function mayOverwrite(text: string, look: string): Promise<boolean> {
  return confirm({
    title: "Changed by someone else",
    text: (
      <>
        {text}{" "}
        <a href={look} target="_blank" rel="noreferrer">
          View the current version
        </a>{" "}
        in a new window.
      </>
    ),
    action: "Overwrite",
  });
}

export interface Updated<W, T, S> {
  get(which: W): Promise<T>;
  update(params: W & Partial<T>): Promise<S>;
}

/**
 * Saves what the person changed of a resource since `before`. Returns null if others changed the same fields and the
 * person does not overwrite them.
 */
export async function saveChanges<W extends object, T extends object, S>(
  { get, update }: Updated<W, T, S>,
  which: W,
  before: T,
  wanted: Partial<T>,
  look: string,
): Promise<S | null> {
  const changes = changesOf<Partial<T>>(before, wanted);
  const theirs = changesOf<Partial<T>>(before, await get(which));
  const clashing = Object.keys(changesOf<Partial<T>>(theirs as T, changes)).filter((name) => name in theirs);
  const names = clashing.map((name) => name.replaceAll("_", " ")).join(", ");
  const text = `Someone has changed ${names} since you opened this form. Saving overwrites those changes.`;
  const mayBeSaved = clashing.length === 0 || (await mayOverwrite(text, look));
  return mayBeSaved ? update({ ...changes, ...which }) : null;
}

/** Returns the fields that the person changed, so that saving keeps others' changes to the rest. */
function changesOf<T extends object>(before: { [name in keyof T]: unknown }, after: T): Partial<T> {
  const names = Object.keys(after) as (keyof T)[];
  const changed = names.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<T>;
}

const UNSAVED = {
  title: "Leave without saving?",
  text: "Your changes on this page will be lost.",
  action: "Leave",
};

/**
 * Asks for confirmation before leaving a page with unsaved changes in any way.
 *
 * @param stays whether the changes are still there at another address; by default at each of the same page
 */
export function useUnsaved(
  isUnsaved: () => boolean,
  { question = UNSAVED, stays = (from: Location, to: Location) => from.pathname === to.pathname } = {},
): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => !stays(currentLocation, nextLocation) && isUnsaved(),
  );
  useBeforeUnload(useCallback((event) => isUnsaved() && event.preventDefault(), [isUnsaved]));
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    void confirm(question).then((wanted) => (wanted ? blocker.proceed() : blocker.reset()));
  }, [blocker, question]);
}
