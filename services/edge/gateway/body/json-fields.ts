const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
/** `[` and `{`, `]` and `}` differ only in this bit. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Finds where the text of a top-level field starts in the bytes of a JSON object. */
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

  /** The field whose text starts at the index that `find` returned. */
  get field(): string {
    return this.#key;
  }

  /** Returns the index after the opening quotation mark of a wanted field's text; -1 if it is not in these bytes. */
  find(bytes: Buffer): number {
    for (let at = 0; at < bytes.length; at++) {
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
    // Our keys are short and have no escapes.
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

/** Receives the text of a field as raw JSON: without its quotation marks, escapes included. */
type Take = (field: string, text: AsyncIterable<Buffer>) => Promise<void>;

const CLOSING_QUOTE = Buffer.from('"');

/**
 * Reads a JSON object and streams the texts of some of its fields while they arrive, so that at most one chunk of them
 * is in memory. The receiver must read each text to its end.
 *
 * @param most limit of the remaining bytes
 * @returns the object's JSON with empty texts in those fields
 * @throws RangeError if the rest is longer, SyntaxError if a text does not end
 */
export async function takeFields(
  source: AsyncIterable<Buffer>,
  fields: ReadonlySet<string>,
  most: number,
  take: Take,
): Promise<Buffer> {
  const scan = new Scan(fields);
  const parts = new Parts(source);
  const rest: Buffer[] = [];
  let size = 0;
  try {
    for (let part = await parts.next(); part; part = await parts.next()) {
      const begin = scan.find(part);
      const passed = begin < 0 ? part : part.subarray(0, begin);
      size += passed.length;
      if (size > most) throw new RangeError("the other fields are too long");
      rest.push(passed);
      if (begin < 0) continue;
      parts.left = part.subarray(begin);
      await take(scan.field, textOf(parts));
      rest.push(CLOSING_QUOTE);
    }
    return Buffer.concat(rest);
  } finally {
    // Without a reader the connection is not read any more, and its next request is never seen.
    await parts.close();
  }
}

/** A stream of bytes, of which the rest of a chunk can be put back. */
class Parts {
  readonly #source: AsyncIterator<Buffer>;
  left: Buffer | null = null;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns null at the end. */
  async next(): Promise<Buffer | null> {
    const part = this.left ?? (await this.#source.next()).value ?? null;
    this.left = null;
    return part;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

async function* textOf(parts: Parts): AsyncGenerator<Buffer> {
  const state = { escaped: false };
  for (let part = await parts.next(); part; part = await parts.next()) {
    const end = endOf(part, state);
    if (end >= 0) parts.left = part.subarray(end + 1);
    yield end < 0 ? part : part.subarray(0, end);
    if (end >= 0) return;
  }
  throw new SyntaxError("it ends within a string");
}

/** Returns the index of a text's closing quotation mark, or -1. */
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
 * Decodes the escapes of a JSON string.
 *
 * @throws SyntaxError for characters that JSON strings do not allow, and for invalid UTF-8
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

/** Passes bytes on while they are valid UTF-8. @throws SyntaxError if they are not */
export async function* onlyUtf8(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const part of parts) {
    decode(decoder, part);
    yield part;
  }
  decode(decoder);
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
    // Omit V8's quote of the text: it may contain a secret.
    throw new SyntaxError("a string contains an invalid escape or control character");
  }
}

const LONGEST_ESCAPE = "\\u0000".length;

/** Returns the length of a text up to an incomplete escape at its end. */
function wholeEscapes(text: string): number {
  const at = text.lastIndexOf("\\");
  if (at < 0 || at <= text.length - LONGEST_ESCAPE) return text.length;
  let first = at;
  while (text[first - 1] === "\\") first--;
  // The second of a pair of backslashes starts no escape.
  if ((at - first) % 2 === 1) return text.length;
  const needs = text[at + 1] === "u" ? LONGEST_ESCAPE : 2;
  return text.length - at >= needs ? text.length : at;
}

/**
 * Encodes characters as UTF-8, joining surrogates split between chunks.
 *
 * @throws RangeError for a lone surrogate, which UTF-8 cannot encode
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
  if (!text.isWellFormed()) throw new RangeError("it contains a lone surrogate");
  return Buffer.from(text);
}

/** Decodes base64, with or without line breaks. @throws RangeError unless it is standard base64, padded */
export async function* fromBase64(characters: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = "";
  let padded = false;
  for await (const piece of characters) {
    const text = held + piece.replace(/[\r\n\t ]+/g, "");
    const whole = text.length - (text.length % 4);
    held = text.slice(whole);
    if (whole === 0) continue;
    if (padded) throw new RangeError("data follows the padding");
    const bytes = Buffer.from(text.slice(0, whole), "base64");
    // Decoding skips invalid characters: the result is then too short.
    const padding = text[whole - 1] !== "=" ? 0 : text[whole - 2] === "=" ? 2 : 1;
    // Decoding also accepts the URL alphabet, which is not allowed here.
    if (bytes.length !== (whole / 4) * 3 - padding || /[-_]/.test(text))
      throw new RangeError("it contains invalid characters");
    padded = padding > 0;
    yield bytes;
  }
  if (held) throw new RangeError("it is incomplete");
}
