/**
 * The end of a line: LF, CR or CRLF, and nothing else. JSON may contain U+2028 and U+2029, where Node's `readline` and
 * `.`, `^` and `$` of regular expressions see one too, as Python's `splitlines` does.
 */
export const LINE_END = /\r\n|[\n\r]/;

/** Splits a text that comes in chunks into lines. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet, in parts: a long line is not copied again for each chunk. */
  #parts: string[] = [];
  #isAfterCr = false;
  #length = 0;
  readonly #longest: number;

  /** @param longest the characters after which a line without an end counts as ended, with the chunk's */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  /** Returns the lines that a chunk of UTF-8 ends, without their ends. */
  take(chunk: Uint8Array): string[] {
    let text = this.#decoder.decode(chunk, { stream: true });
    // A CR ends a line at once: the LF of a CRLF comes with the next chunk, or never.
    if (this.#isAfterCr && text.startsWith("\n")) text = text.slice(1);
    else if (text === "") return [];
    this.#isAfterCr = text.endsWith("\r");
    const lines = text.split(LINE_END);
    const rest = lines.pop() as string;
    if (lines.length > 0) {
      lines[0] = this.#parts.join("") + lines[0];
      this.#parts = [];
      this.#length = 0;
    }
    if (rest !== "") this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length < this.#longest) return lines;
    lines.push(this.#parts.join(""));
    this.#parts = [];
    this.#length = 0;
    return lines;
  }

  /** Returns the last line, if it has no end. */
  end(): string[] {
    const rest = this.#parts.join("") + this.#decoder.decode();
    this.#parts = [];
    return rest === "" ? [] : [rest];
  }
}

/** Characters that readers of lines may take for an end, and that JSON text may contain as they are. */
const MISREAD = /[\u0085\u2028\u2029]/g;

/** Formats a value as JSON on one line, for readers that know more ends of lines too. */
export function jsonLine(value: unknown): string {
  const escaped = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(MISREAD, escaped);
}
