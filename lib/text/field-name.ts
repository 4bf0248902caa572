const ENCODED: Record<string, string> = { "%": "%25", ".": "%2E", $: "%24" };
const DECODED = new Map(Object.entries(ENCODED).map(([character, code]) => [code, character]));

/**
 * Converts an event type, or another text, to a field's name: dots and dollars have a meaning in those, as have numbers and `__proto__`
 * without a prefix.
 */
export const toFieldName = (type: string): string =>
  `:${type.replace(/[%.$]/g, (character) => ENCODED[character] as string)}`;

export const fromFieldName = (key: string): string =>
  key.slice(1).replace(/%(25|2E|24)/g, (code) => DECODED.get(code) as string);
