/** A JSON Pointer (RFC 6901) as a list of keys. */
type JsonPointer = readonly string[];

/** Parses a pointer that begins with `/`; returns null if it is invalid. */
export function parsePointer(text: string): JsonPointer | null {
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  return text
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the value at a pointer, undefined if missing. */
export function resolvePointer(value: unknown, pointer: JsonPointer): unknown {
  let at = value;
  for (const key of pointer) {
    if (typeof at !== "object" || at === null) return undefined;
    if (Array.isArray(at) ? !INDEX.test(key) : !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
