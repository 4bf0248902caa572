/** What stands between commas, without what is empty. */
export const listed = (text: string) => parts(text, ",");

/** The lines that are not empty. */
export const linesOf = (text: string) => parts(text, "\n");

function parts(text: string, by: string): string[] {
  return text
    .split(by)
    .map((part) => part.trim())
    .filter(Boolean);
}
