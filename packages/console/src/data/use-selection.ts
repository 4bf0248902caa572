import { useRef, useState } from "react";

export interface Selection {
  /** Of the rows that are still there. */
  ids: string[];
  has(id: string): boolean;
  /** Selects or deselects a row; with Shift, also those between it and the last one. */
  toggle(id: string, shift: boolean): void;
  all(wanted: boolean): void;
}

/** The selected ones of a list's rows, given by their ids in order. */
export function useSelection(rows: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  return {
    ids: rows.filter((id) => chosen.has(id)),
    has: (id) => chosen.has(id),
    toggle(id, shift) {
      const wanted = !chosen.has(id);
      const next = new Set(chosen);
      for (const each of shift ? between(rows, last.current, id) : [id]) {
        if (wanted) next.add(each);
        else next.delete(each);
      }
      last.current = id;
      setChosen(next);
    },
    all(wanted) {
      last.current = undefined;
      setChosen(new Set(wanted ? rows : []));
    },
  };
}

function between(rows: readonly string[], from: string | undefined, to: string): readonly string[] {
  const ends = [from === undefined ? -1 : rows.indexOf(from), rows.indexOf(to)].sort((a, b) => a - b);
  const [first = -1, end = -1] = ends;
  return first < 0 ? [to] : rows.slice(first, end + 1);
}
