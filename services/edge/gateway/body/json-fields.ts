const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
/** `[` and `{`, `]` and `}` differ in this bit only. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Finds where, in the bytes of a JSON object, the text of one of its own fields begins. */
class Scan {
  readonly #wanted: ReadonlySet<string>;
  #depth = 0;
  #inText = false;
  #escaped = false;
  #isValue = false;
  #key = "";
  #inKey = false;

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** The field whose text begins at the index that `find` gave. */
  get field(): string {
    return this.#key;
  }

  /** The index behind the quotation mark that opens a wanted field's text; -1 when it is not among these bytes. */
  find(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (this.#inText) this.#passText(byte);
      else if (byte !== QUOTE) this.#passMark(byte);
      else if (this.#depth === 1 && this.#isValue && this.#wanted.has(this.#key)) return at + 1;
      else this.#beginText();
    }
    return -1;
  }

  #beginText(): void {
    this.#inText = true;
    this.#inKey = this.#depth === 1 && !this.#isValue;
    if (this.#inKey) this.#key = "";
  }

  #passText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inText = false;
      return;
    }
    // A key of ours is short, and written without escapes.
    if (this.#inKey && this.#key.length < 100) this.#key += String.fromCharCode(byte);
  }

  #passMark(byte: number): void {
    const brace = byte | BRACE;
    if (brace === OPENING) this.#depth++;
    else if (brace === CLOSING) this.#depth--;
    else if (this.#depth === 1 && byte === COLON) this.#isValue = true;
    else if (this.#depth === 1 && byte === COMMA) this.#isValue = false;
  }
}

/** Bytes as they come, of which one may look at some and leave the rest to the next who asks. */
class Parts {
  readonly #source: AsyncIterator<Buffer>;
  #left: Buffer | null = null;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** What is left, else what comes next; null at the end. */
  async next(): Promise<Buffer | null> {
    const left = this.#left;
    this.#left = null;
    if (left) return left;
    const { value, done } = await this.#source.next();
    return done ? null : value;
  }

  leave(bytes: Buffer): void {
    this.#left = bytes.length ? bytes : null;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

/** Is given the text of a field, as it stands in JSON: without its quotation marks, escapes and all. */
type Take = (field: string, text: AsyncIterable<Buffer>) => Promise<void>;

/**
 * Reads a JSON object and takes the texts of some of its fields out of it while they come in, so that no more of them is
 * ever held than one part. What takes a text must read it to its end.
 *
 * @param most bytes of all the rest
 * @returns the object's JSON with empty texts in those places
 * @throws RangeError when the rest is longer, SyntaxError when a text does not end
 */
export async function takeFields(
  source: AsyncIterable<Buffer>,
  fields: ReadonlySet<string>,
  most: number,
  take: Take,
): Promise<Buffer> {
  const parts = new Parts(source);
  try {
    return await takeFrom(parts, fields, most, take);
  } finally {
    // A connection whose reader just stays away is not read any more, and the next request on it is never seen.
    await parts.close();
  }
}

async function takeFrom(
  parts: Parts,
  fields: ReadonlySet<string>,
  most: number,
  take: Take,
): Promise<Buffer> {
  const scan = new Scan(fields);
  const rest: Buffer[] = [];
  let size = 0;
  for (let part = await parts.next(); part; part = await parts.next()) {
    const begin = scan.find(part, 0);
    const passed = begin < 0 ? part : part.subarray(0, begin);
    size += passed.length;
    if (size > most) throw new RangeError("the rest is too long");
    rest.push(passed);
    if (begin < 0) continue;
    parts.leave(part.subarray(begin));
    await take(scan.field, textOf(parts));
    rest.push(CLOSING_QUOTE);
  }
  return Buffer.concat(rest);
}

const CLOSING_QUOTE = Buffer.from('"');

async function* textOf(parts: Parts): AsyncGenerator<Buffer> {
  const state = { escaped: false };
  for (let part = await parts.next(); part; part = await parts.next()) {
    const end = endOf(part, state);
    if (end < 0) yield part;
    else {
      parts.leave(part.subarray(end + 1));
      if (end > 0) yield part.subarray(0, end);
      return;
    }
  }
  throw new SyntaxError("it ends within a text");
}

/** The index of the quotation mark that ends a text, or -1. */
function endOf(bytes: Buffer, state: { escaped: boolean }): number {
  const slash = bytes.indexOf(BACKSLASH);
  const quote = bytes.indexOf(QUOTE);
  if (!state.escaped && (slash < 0 || (quote >= 0 && quote < slash))) return quote;
  for (let at = 0; at < bytes.length; at++) {
    if (state.escaped) state.escaped = false;
    else if (bytes[at] === BACKSLASH) state.escaped = true;
    else if (bytes[at] === QUOTE) return at;
  }
  return -1;
}

/**
 * The characters that the text of a JSON string stands for.
 *
 * @throws SyntaxError for what no JSON string may hold, and for what is not UTF-8
 */
export async function* unescaped(text: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let held = "";
  for await (const bytes of text) {
    const given = held + decode(decoder, bytes);
    const whole = wholeEscapes(given);
    held = given.slice(whole);
    yield readText(given.slice(0, whole));
  }
  yield readText(held + decode(decoder));
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes?: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw new SyntaxError("it is not UTF-8");
  }
}

function readText(text: string): string {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    // Without the piece of the text that V8 quotes: it may be of a secret.
    throw new SyntaxError("a text in it holds what none may hold");
  }
}

const LONGEST_ESCAPE = "\\u0000".length;

/** How much of a text is whole: an escape at its end may go on. */
function wholeEscapes(text: string): number {
  const at = text.lastIndexOf("\\");
  if (at < 0 || at <= text.length - LONGEST_ESCAPE) return text.length;
  let first = at;
  while (text[first - 1] === "\\") first--;
  // Of a pair of backslashes the second begins nothing.
  if ((at - first) % 2 === 1) return text.length;
  const needs = text[at + 1] === "u" ? LONGEST_ESCAPE : 2;
  return text.length - at >= needs ? text.length : at;
}

/**
 * The bytes of characters in UTF-8; what comes in two halves is put together.
 *
 * @throws RangeError for half a character without the other: no bytes stand for it
 */
export async function* toUtf8(characters: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let half = "";
  for await (const piece of characters) {
    const text = half + piece;
    half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    yield bytesOf(half ? text.slice(0, -1) : text);
  }
  bytesOf(half);
}

function bytesOf(text: string): Buffer {
  if (!text.isWellFormed()) throw new RangeError("it holds half a character");
  return Buffer.from(text);
}

/** What stands for a byte in a JSON string, where that is not the byte itself. */
const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const written = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).slice(1, -1) : "";
  return written.length > 1 ? Buffer.from(written) : null;
});

/** Bytes in UTF-8 as they stand in a JSON string; a character may begin in some and end in the next. */
export function escapedBytes(bytes: Buffer): Buffer {
  let size = bytes.length;
  for (const byte of bytes) size += (ESCAPES[byte]?.length ?? 1) - 1;
  if (size === bytes.length) return bytes;
  const written = Buffer.allocUnsafe(size);
  let at = 0;
  for (const byte of bytes) {
    const long = ESCAPES[byte];
    if (long) at += long.copy(written, at);
    else written[at++] = byte;
  }
  return written;
}

/** The bytes that base64 stands for. @throws RangeError when it is not the standard one, padded and without breaks */
export async function* fromBase64(characters: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = "";
  let padded = false;
  for await (const piece of characters) {
    const text = held + piece;
    const whole = text.length - (text.length % 4);
    held = text.slice(whole);
    if (whole === 0) continue;
    if (padded) throw new RangeError("more follows the padding");
    const bytes = Buffer.from(text.slice(0, whole), "base64");
    // Decoding passes over what is no base64: then there are fewer bytes than there must be.
    const padding = text[whole - 1] !== "=" ? 0 : text[whole - 2] === "=" ? 2 : 1;
    // And it takes the alphabet for URLs too, which is another one.
    if (bytes.length !== (whole / 4) * 3 - padding || /[-_]/.test(text))
      throw new RangeError("it holds other characters");
    padded = padding > 0;
    yield bytes;
  }
  if (held) throw new RangeError("it breaks off");
}
