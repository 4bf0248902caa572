/** LangGraph's namespaces are lists of labels, Sensorium's are texts with dots between them. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: no label may have them
const ODD = /[%/\x00-\x1f\x7f]/g;

/** As the store for Python writes them, so that graphs in both languages share items. */
export function toText(namespace: string[]): string {
  return namespace.map((label) => encoded(label, ODD)).join(".");
}

export function fromText(text: string): string[] {
  return text.split(".").map(decoded);
}

/** A text whose odd characters are `%` and two hexadecimal digits for each byte. */
export function encoded(text: string, odd: RegExp): string {
  return text.toWellFormed().replace(odd, (found) => {
    const bytes = [...new TextEncoder().encode(found)];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
  });
}

/** The text that was encoded; one that others wrote otherwise stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
