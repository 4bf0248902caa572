const ENCODED: Record<string, string> = { "%": "%25", ".": "%2E", $: "%24" };
const DECODED = new Map(Object.entries(ENCODED).map(([character, code]) => [code, character]));

/** Converts a text to a field's name, in which dots, dollars, numbers and `__proto__` have a meaning. */
export const toFieldName = (type: string): string =>
  `:${type.replace(/[%.$]/g, (character) => ENCODED[character] as string)}`;

export const fromFieldName = (key: string): string =>
  key.slice(1).replace(/%(25|2E|24)/g, (code) => DECODED.get(code) as string);
