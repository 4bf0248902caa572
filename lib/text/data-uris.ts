/** Shorter ones can be part of a sentence. */
const PAYLOAD = 64;
const BASE64 = `(?:;base64,[A-Za-z0-9+/_=%-]{${PAYLOAD},}(?:\\s+[A-Za-z0-9+/_=-]{${PAYLOAD},})*)`;
const OTHER = `(?:,[^\\s"'()<>\\\\]{${PAYLOAD},})`;
const DATA_URI = new RegExp(
  `data:[a-z]+/[a-z0-9.+-]+(?:;[a-z0-9-]+=[^;,\\s"'()]{1,80})*(?:${BASE64}|(?:;utf-?8)?${OTHER})`,
  "gi",
);

/** Returns a text without files embedded as `data:` URIs, for search and models: they have no words. */
export function withoutDataUris(text: string): string {
  return text.includes("data:") || text.includes("DATA:") ? text.replace(DATA_URI, "") : text;
}
