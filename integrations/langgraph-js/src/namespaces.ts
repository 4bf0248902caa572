/** LangGraph's namespaces are lists of labels, Sensorium's are texts with dots between them. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: no label may have them
const ODD = /[%/\x00-\x1f\x7f]/g;
const ENCODED = /%(25|2F|[01][0-9A-F]|7F)/g;

/** As the store for Python writes them, so that graphs in both languages share items. */
export function toText(namespace: string[]): string {
  return namespace.map((label) => encoded(label)).join(".");
}

export function fromText(text: string): string[] {
  return text.split(".").map(decoded);
}

/** A text without the odd characters: they become `%` and two hexadecimal digits. */
export function encoded(text: string, odd = ODD): string {
  return text.replace(odd, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

function decoded(label: string): string {
  return label.replace(ENCODED, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}
