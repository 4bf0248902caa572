/** JSON of fewer bytes is parsed without counting its values. */
export const UNCOUNTED_BYTES = 32_768;

/**
 * Maximum values in JSON of more than `UNCOUNTED_BYTES`. Parsing time depends on values, not bytes: a megabyte of empty
 * lists takes 40 times as long as a megabyte of text.
 */
export const MAX_JSON_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** The bit in which `{` differs from `[`. */
const BRACE = 0x20;
const OPENING = 0x7b;

/**
 * Counts the values in JSON without parsing: each but the first follows a comma or an opening bracket. Stops above
 * `most`.
 */
export function countValues(json: Buffer, most: number): number {
  let values = 1;
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA || (byte | BRACE) === OPENING) values++;
  }
  return values;
}

/** Returns the position of the quotation mark that ends a string, the end of the JSON if missing. */
function endOfText(json: Buffer, from: number): number {
  const quote = json.indexOf(QUOTE, from);
  if (quote < 0) return json.length;
  if (json[quote - 1] !== BACKSLASH) return quote;
  // Byte by byte from here: an `indexOf` for each of many escaped quotes would be slow.
  for (let at = from; at < json.length; at++) {
    if (json[at] === BACKSLASH) at++;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}
