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
    title: "Changed meanwhile",
    text: (
      <>
        {text}{" "}
        <a href={look} target="_blank" rel="noreferrer">
          Look at it as it is now
        </a>{" "}
        in a window of its own.
      </>
    ),
    action: "Save all the same",
  });
}

interface Saving<T extends object> {
  /** The state when the form was opened. */
  before: T;
  wanted: Partial<T>;
  read(): Promise<T>;
  look: string;
}

/** Returns the person's changes; null if others changed the same fields and the person does not overwrite them. */
export async function changesToSave<T extends object>({ before, wanted, read, look }: Saving<T>) {
  const changes = changesOf<Partial<T>>(before, wanted);
  const theirs = changesOf<Partial<T>>(before, await read());
  const clashing = Object.keys(changesOf<Partial<T>>(theirs as T, changes)).filter((name) => name in theirs);
  if (clashing.length === 0) return changes;
  const names = clashing.map((name) => name.replaceAll("_", " ")).join(", ");
  const text = `Since you opened this form somebody has changed its ${names}. Saving puts yours in their place.`;
  return (await mayOverwrite({ text, look })) ? changes : null;
}
