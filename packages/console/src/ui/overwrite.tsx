import { changesOf } from "../data/changes.ts";
import { confirm } from "./confirm.tsx";

interface Meanwhile {
  /** What happened since the form was opened, and what saving does to it. */
  text: string;
  /** The page that shows it as it is now. */
  look: string;
}

/** Asks before what others did while a form stood open is written over. */
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
  /** As it was when the form was opened. */
  before: T;
  wanted: Partial<T>;
  read(): Promise<T>;
  look: string;
}

/** What the person has changed; null where others have changed the same, and it is not to be written over. */
export async function changesToSave<T extends object>({ before, wanted, read, look }: Saving<T>) {
  const changes = changesOf<Partial<T>>(before, wanted);
  const theirs = changesOf<Partial<T>>(before, await read());
  const clashing = Object.keys(changesOf<Partial<T>>(theirs as T, changes)).filter((name) => name in theirs);
  if (clashing.length === 0) return changes;
  const names = clashing.map((name) => name.replaceAll("_", " ")).join(", ");
  const text = `Since you opened this form somebody has changed its ${names}. Saving puts yours in their place.`;
  return (await mayOverwrite({ text, look })) ? changes : null;
}
