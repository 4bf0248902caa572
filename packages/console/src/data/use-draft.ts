import { useState } from "react";

/** The values of a form, the props of the field of each, and a function that replaces several. */
export function useDraft<D extends object>(initial: D | (() => D)) {
  const [draft, setDraft] = useState(initial);
  const change = (to: Partial<D>) => setDraft((old) => ({ ...old, ...to }));
  const field = <N extends keyof D>(name: N) => ({
    value: draft[name],
    onChange: (value: D[N]) => setDraft((old) => ({ ...old, [name]: value })),
  });
  return [draft, field, change] as const;
}
