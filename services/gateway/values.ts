import { Fault } from "../../lib/faults.ts";

/**
 * So many values a body of more than a megabyte may hold. What takes long to parse is not many bytes but many values: ten
 * megabytes of text take a tenth of the time that one of empty lists does.
 */
export const MOST_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** `{` is `[` but for this bit. */
const BRACE = 0x20;
const OPENING = 0x7b;

/** Whether JSON text holds more values than that: each but the first comes behind a comma, or in what is opened. */
export function hasMoreValues(json: Buffer, most: number): boolean {
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if ((byte === COMMA || (byte | BRACE) === OPENING) && ++values > most) return true;
  }
  return false;
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

/** Refuses a large body that would hold the main thread up. @throws Fault validation_failed */
export function requireFewValues(json: Buffer): void {
  if (!hasMoreValues(json, MOST_VALUES)) return;
  const expected = `at most ${MOST_VALUES} values where the body has more than a megabyte`;
  const details = { field: "", value: null, expected, example: {} };
  throw new Fault("validation_failed", `The body: expected ${expected}.`, details);
}
