/** Capitalises a code: "not_ready" becomes "Not ready". */
export const capitalised = (word: string) =>
  word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");

/** Splits a text at commas, without empty parts. */
export const listed = (text: string) => parts(text, ",");

/** Splits a text into its non-empty lines. */
export const linesOf = (text: string) => parts(text, "\n");

function parts(text: string, by: string): string[] {
  return text
    .split(by)
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Returns why a text is not JSON; nothing for an empty one. */
export function mistakeInJson(text: string): string | undefined {
  try {
    if (text.trim()) JSON.parse(text);
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}
