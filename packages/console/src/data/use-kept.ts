import { useCallback, useRef } from "react";
import { confirm } from "../ui/confirm.tsx";
import { useUnsaved } from "./use-unsaved.ts";

const LOST = {
  title: "Close without copying?",
  text: "What you see here is shown only once, and has not been copied yet.",
  action: "Close anyway",
};

/** A dialog is gone at any other address, also of the same page. */
const NOWHERE_ELSE = { question: LOST, stays: () => false };

/** Asks before secrets are lost that nobody has copied, whichever way the person leaves. */
export function useKept(secrets: readonly string[]) {
  const missing = useRef(new Set(secrets));
  const isLost = useCallback(() => missing.current.size > 0, []);
  useUnsaved(isLost, NOWHERE_ELSE);
  return {
    /** A text was copied: with it the secrets that it contains. */
    copied(text: string): void {
      for (const secret of missing.current) if (text.includes(secret)) missing.current.delete(secret);
    },
    async leave(onLeave: () => void): Promise<void> {
      if (isLost() && !(await confirm(LOST))) return;
      missing.current.clear();
      onLeave();
    },
  };
}
