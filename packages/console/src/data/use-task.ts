import { useState } from "react";
import { isCredentialRefused } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { messageOf } from "../ui/failure.tsx";
import { toast } from "../ui/toast.tsx";

export interface Task<A extends unknown[]> {
  busy: boolean;
  /** The last run's error, for display in a form. */
  error: unknown;
  /** Whether it succeeded. */
  run(...args: A): Promise<boolean>;
  clear(): void;
}

/** A task started by a person: busy while it runs, with a toast on failure. */
export const useTask = <A extends unknown[]>(task: (...args: A) => Promise<unknown>) =>
  useRunning(task, true);

/** The task of a form, which shows the failure itself. */
export const useFormTask = <A extends unknown[]>(task: (...args: A) => Promise<unknown>) =>
  useRunning(task, false);

function useRunning<A extends unknown[]>(task: (...args: A) => Promise<unknown>, toasts: boolean): Task<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { expired } = useSession();
  return {
    busy,
    error,
    clear: () => setError(undefined),
    async run(...args) {
      setBusy(true);
      setError(undefined);
      try {
        await task(...args);
        return true;
      } catch (thrown) {
        // The sign-in page is the only message needed.
        if (isCredentialRefused(thrown)) {
          expired();
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
