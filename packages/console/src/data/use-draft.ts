import { useState } from "react";

/** The props of the field with a name. */
export type FieldOf<D> = <N extends keyof D>(name: N) => { value: D[N]; onChange(value: D[N]): void };

/**
 * The values of a form, the props of each field, and a function that changes several values. Calls `onEdit` when the
 * person changes a field.
 */
export function useDraft<D extends object>(initial: D | (() => D), onEdit?: () => void) {
  const [draft, setDraft] = useState(initial);
  const change = (to: Partial<D>) => setDraft((old) => ({ ...old, ...to }));
  const field: FieldOf<D> = (name) => ({
    value: draft[name],
    onChange: (value) => {
      setDraft((old) => ({ ...old, [name]: value }));
      onEdit?.();
    },
  });
  return [draft, field, change] as const;
}
