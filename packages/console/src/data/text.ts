/** As it begins a line: "not_ready" is "Not ready". */
export const capitalised = (word: string) =>
  word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");

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

/** What keeps a text from being JSON; nothing for an empty one. */
export function mistakeInJson(text: string): string | undefined {
  try {
    if (text.trim()) JSON.parse(text);
  } catch (error) {
    return `Not JSON: ${(error as Error).message}`;
  }
}
