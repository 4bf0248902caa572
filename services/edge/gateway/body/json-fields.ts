const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const U = 0x75;
/** Bytes with a meaning outside of strings. */
const MARKS = new Set(Array.from('"{}[]:,', (mark) => mark.charCodeAt(0)));

/** JSON that arrives in pieces: what was passed is taken, the rest is held. */
class Input {
  readonly #source: AsyncGenerator<string>;
  #held = "";
  #passed = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = decoded(source);
  }

  /** Passes everything up to the next mark, which it returns; "" if none is here yet. An escape is passed whole. */
  pass(inString: boolean): string {
    const held = this.#held;
    let at = this.#passed;
    let mark = "";
    const quote = inString ? held.indexOf('"', at) : 0;
    const end = quote < 0 ? held.length : quote + 1;
    // Three times as fast as character by character.
    if (inString && !held.slice(at, end).includes("\\")) {
      this.#passed = end;
      return quote < 0 ? "" : '"';
    }
    while (at < held.length && !mark) {
      const code = held.charCodeAt(at);
      const length = !inString || code !== BACKSLASH ? 1 : held.charCodeAt(at + 1) === U ? 6 : 2;
      if (at + length > held.length) break;
      if (inString ? code === QUOTE : MARKS.has(code)) mark = String.fromCharCode(code);
      at += length;
    }
    this.#passed = at;
    return mark;
  }

  /** Takes what was passed. */
  take(): string {
    const taken = this.#held.slice(0, this.#passed);
    this.#held = this.#held.slice(this.#passed);
    this.#passed = 0;
    return taken;
  }

  /** Waits for another piece. Returns false at the end. */
  async more(): Promise<boolean> {
    const { value, done } = await this.#source.next();
    if (!done) this.#held += value;
    return !done;
  }

  close(): Promise<unknown> {
    return this.#source.return(undefined);
  }
}

/** Receives the characters of a field. */
type Take = (field: string, characters: AsyncIterable<string>) => Promise<void>;

/**
 * Reads a JSON object and streams the texts of some of its fields while they arrive, so that at most one chunk of them
 * is in memory. The receiver must read each text to its end.
 * @param most limit of the remaining bytes
 * @returns the object's JSON with empty texts in those fields
 * @throws RangeError if the rest is longer, SyntaxError if a text does not end, is malformed or no UTF-8
 */
export async function takeFields(
  source: AsyncIterable<Buffer>,
  fields: ReadonlySet<string>,
  most: number,
  take: Take,
): Promise<Buffer> {
  const input = new Input(source);
  const rest: Buffer[] = [];
  let size = 0;
  const keep = (text: string) => {
    const bytes = Buffer.from(text);
    size += bytes.length;
    if (size > most) throw new RangeError("the other fields are too long");
    rest.push(bytes);
  };
  let [depth, isValue, inString, key] = [0, false, false, ""];
  try {
    for (;;) {
      const mark = input.pass(inString);
      if (mark === "") {
        const text = input.take();
        keep(text);
        if (inString && !isValue) key += text;
        if (!(await input.more())) return Buffer.concat(rest);
      } else if (mark === "{" || mark === "[") depth++;
      else if (mark === "}" || mark === "]") depth--;
      else if (mark === ":") isValue ||= depth === 1;
      else if (mark === ",") isValue &&= depth !== 1;
      else if (inString) {
        inString = false;
        if (depth !== 1 || isValue) continue;
        const text = input.take();
        keep(text);
        key += text.slice(0, -1);
      } else if (depth === 1 && isValue && fields.has(key)) {
        keep(input.take());
        await take(key, charactersOf(input));
        keep('"');
      } else {
        inString = true;
        if (depth !== 1 || isValue) continue;
        keep(input.take());
        key = "";
      }
    }
  } finally {
    // Without a reader the connection is not read any more, and its next request is never seen.
    await input.close();
  }
}

/** Decodes a string up to its closing quotation mark. */
async function* charactersOf(input: Input): AsyncGenerator<string> {
  for (;;) {
    const mark = input.pass(true);
    const text = input.take();
    yield readText(mark ? text.slice(0, -1) : text);
    if (mark) return;
    if (!(await input.more())) throw new SyntaxError("it ends within a string");
  }
}

async function* decoded(parts: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for await (const part of parts) yield decode(decoder, part);
  yield decode(decoder);
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

/**
 * Encodes characters as UTF-8, joining surrogates split between chunks.
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
