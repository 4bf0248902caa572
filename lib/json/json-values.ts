/** JSON of fewer bytes is parsed without a look at how many values it holds. */
export const UNCOUNTED_BYTES = 32_768;

/**
 * Most values in JSON of more than `UNCOUNTED_BYTES`. The time to parse follows the values, not the bytes: a megabyte
 * of empty lists takes 40 times as long as a megabyte of text.
 */
export const MAX_JSON_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `{` is `[` but for this bit. */
const BRACE = 0x20;
const OPENING = 0x7b;

/** Counts the values in JSON without parsing it: each but the first follows a comma or an opening bracket. Stops beyond `most`. */
export function countValues(json: Buffer, most: number): number {
  let values = 1;
  for (let at = 0; at < json.length && values <= most; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA || (byte | BRACE) === OPENING) values++;
  }
  return values;
}

/** Where the quotation mark is that ends a text; the end of all where there is none. */
function endOfText(json: Buffer, from: number): number {
  const quote = json.indexOf(QUOTE, from);
  if (quote < 0) return json.length;
  if (json[quote - 1] !== BACKSLASH) return quote;
  // One by one from here on: to look for each of very many escaped ones would take long.
  for (let at = from; at < json.length; at++) {
    if (json[at] === BACKSLASH) at++;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}
