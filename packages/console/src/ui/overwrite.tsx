import { changesOf } from "../data/changes.ts";
import { confirm } from "./confirm.tsx";

interface Meanwhile {
  /** The changes since the form was opened, and the effect of saving. */
  text: string;
  /** The page with the current state. */
  look: string;
}

/** Asks before overwriting changes that others made while a form was open. */
export function mayOverwrite({ text, look }: Meanwhile): Promise<boolean> {
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

interface Resource<W, T, S> {
  get(which: W): Promise<T>;
  update(params: W & Partial<T>): Promise<S>;
}

/**
 * Saves what the person changed of a resource since `before`. Returns null if others changed the same fields and the
 * person does not overwrite them.
 */
export async function saveChanges<W extends object, T extends object, S>(
  { get, update }: Resource<W, T, S>,
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
  const mayBeSaved = clashing.length === 0 || (await mayOverwrite({ text, look }));
  return mayBeSaved ? update({ ...changes, ...which }) : null;
}
