import { nullable } from "./contract.ts";
import { SomeText } from "./schema.ts";

const MAX_LENGTH = 1000;
const ABOUT =
  "Whom it is about, such as the id of a customer. `POST /memories/erase` with this `subject` erases it and what is " +
  "derived from it.";
const Text = (description: string) => SomeText(MAX_LENGTH, description, "customer-17");

export const Subject = Text(ABOUT);
/** For what also has metadata, where it is kept. */
export const SubjectOfMetadata = nullable(
  Text(`${ABOUT} Kept in \`metadata.subject\`, which may list several.`),
);

/** Returns the subject to show: the first that could be given. */
export function subjectOf(metadata: object): string | null {
  return subjectsIn(metadata).find(({ length }) => length > 0 && length <= MAX_LENGTH) ?? null;
}

/** Returns the subjects that metadata names: a text or a number, or several (api: Memories, erase). */
export function subjectsIn(metadata: object | null | undefined): string[] {
  const subjects: unknown[] = metadata && "subject" in metadata ? [metadata.subject].flat() : [];
  return subjects.filter((each) => typeof each === "string" || typeof each === "number").map(String);
}

/**
 * Returns metadata that names a subject too. Null names none: it clears nothing that comes in the same request, as what is
 * forgotten here cannot be erased later.
 */
export function withSubject<M extends object | null | undefined>(
  metadata: M,
  subject: string | null | undefined,
): M | { subject: unknown } {
  const there = subjectsIn(metadata);
  if (!subject || there.includes(subject)) return metadata;
  return { ...metadata, subject: there.length ? [...there, subject] : subject };
}
