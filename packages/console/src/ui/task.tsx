import { type FormEvent, useContext, useState } from "react";
import { isCredentialRefused } from "../../../client/index.ts";
import { useReadShown } from "../data/queries.ts";
import { SessionContext } from "../data/session.ts";
import { newStore } from "../data/store.ts";
import { IconButton } from "./button.tsx";
import { messageOf } from "./failure.tsx";
import { CircleAlert, CircleCheck, X } from "./icons.tsx";

export interface Task<A extends unknown[]> {
  busy: boolean;
  /** The last run's error, for display in a form. */
  error: unknown;
  /** Whether it succeeded. */
  run(...args: A): Promise<boolean>;
  clear(): void;
}

/**
 * A task started by a person: busy while it runs, with a toast on failure. What is shown is read again after it, as it may
 * have changed something.
 */
export const useTask = <A extends unknown[]>(task: (...args: A) => Promise<unknown>) =>
  useRunning(task, true);

/** The task of a form, which shows the failure itself. */
export const useFormTask = <A extends unknown[]>(task: (...args: A) => Promise<unknown>) =>
  useRunning(task, false);

/**
 * The task of a form in a dialog: then the dialog closes, and a returned text is shown as a notice. If it returns false,
 * the dialog stays, as the person decided so or it shows something else now.
 */
export const useSaving = (onClose: () => void, save: () => Promise<string | false | object | undefined>) =>
  useFormTask(async () => {
    const said = await save();
    if (said === false) return;
    if (typeof said === "string") toast({ title: said });
    else if (said) toastWarnings(said);
    onClose();
  });

function useRunning<A extends unknown[]>(task: (...args: A) => Promise<unknown>, toasts: boolean): Task<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // Without a session, such as on the sign-in page, a refusal is a failure like others.
  const session = useContext(SessionContext);
  const readShown = useReadShown();
  return {
    busy,
    error,
    clear: () => setError(undefined),
    async run(...args) {
      setBusy(true);
      setError(undefined);
      try {
        await task(...args);
        await readShown();
        return true;
      } catch (thrown) {
        // The sign-in page is the only message needed.
        if (session && isCredentialRefused(thrown)) {
          session.expired();
          return false;
        }
        setError(thrown);
        if (toasts) toast({ tone: "bad", title: messageOf(thrown) });
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** Returns a handler that acts when a form is submitted, instead of the browser. */
export const submitting = (act: () => unknown) => (event: FormEvent) => {
  event.preventDefault();
  void act();
};

interface Toast {
  id: number;
  tone: "good" | "bad";
  title: string;
}

const SHOWN_MS = 6000;
const toasts = newStore<readonly Toast[]>([]);
let next = 0;

const drop = (id: number) => toasts.set(toasts.get().filter((each) => each.id !== id));

/** Shows a brief notice of success or failure. Errors stay until closed. */
export function toast({ tone = "good", title }: { tone?: Toast["tone"]; title: string }): void {
  const id = next++;
  toasts.set([...toasts.get().slice(-3), { id, tone, title }]);
  if (tone === "good") setTimeout(() => drop(id), SHOWN_MS);
}

/** Shows what an answer warns of: it succeeded, but is likely not what was meant. */
export function toastWarnings(answer: object): void {
  if (!("warnings" in answer) || !Array.isArray(answer.warnings)) return;
  for (const warning of answer.warnings) toast({ tone: "bad", title: warning });
}

export function Toasts() {
  const shown = toasts.use((all) => all);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, title }) => (
        <div key={id} className={`toast ${tone}`}>
          {tone === "good" ? <CircleCheck aria-hidden size={18} /> : <CircleAlert aria-hidden size={18} />}
          <p className="grow">{title}</p>
          <IconButton icon={X} label="Dismiss" onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  );
}
