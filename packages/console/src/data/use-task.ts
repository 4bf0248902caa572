import { useState } from "react";
import { isCredentialRefused } from "../../../client/index.ts";
import { useSession } from "../shell/session.tsx";
import { messageOf } from "../ui/failure.tsx";
import { toast } from "../ui/toast.tsx";

export interface Task<A extends unknown[]> {
  busy: boolean;
  /** The last run's error, for a form to show beside its fields. */
  error: unknown;
  /** Whether it succeeded. */
  run(...args: A): Promise<boolean>;
  clear(): void;
}

/** Something that a person starts: busy while it runs, a toast when it fails (unless the form shows it: `quiet`). */
export function useTask<A extends unknown[]>(
  task: (...args: A) => Promise<unknown>,
  { quiet = false }: { quiet?: boolean } = {},
): Task<A> {
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
        // Signing in again is what there is to say of it.
        if (isCredentialRefused(thrown)) {
          expired();
          return false;
        }
        setError(thrown);
        if (!quiet) toast({ tone: "bad", title: messageOf(thrown) });
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
