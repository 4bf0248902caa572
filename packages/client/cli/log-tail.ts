import { stripVTControlCharacters } from "node:util";
import { redact } from "../generated/redact.ts";

/** Limit of the lines sent; the service takes 16,384 characters, with what is said about the rest. */
const MAX_BYTES = 16_000;
/** Kept of the latest output, in characters: secrets are found before it is cut. */
const MAX_KEPT = 64_000;
const MAX_ENDING = 200;

/** The end of what a command writes, in bounded memory. */
export class LogTail {
  /** Lines before `#latest`, so that nothing is copied for each line. */
  #before = "";
  #latest = "";
  #bytes = 0;

  /** Adds a line, without its colours and without what moves a cursor. */
  add(line: string): void {
    const text = `${stripVTControlCharacters(line)}\n`;
    this.#bytes += Buffer.byteLength(text);
    this.#latest += text;
    if (this.#latest.length < MAX_KEPT) return;
    // Copied: a slice would keep the whole line in memory.
    this.#before = Buffer.from(this.#latest.slice(-MAX_KEPT)).toString();
    this.#latest = "";
  }

  /** Returns the last lines without what looks like a secret, how many bytes are left out, and how the command ended. */
  toText(ending: string): string {
    const [kept, shown] = this.#shown();
    const last = lastLines(shown, MAX_BYTES);
    const omitted =
      this.#bytes - Buffer.byteLength(kept) + Buffer.byteLength(shown) - Buffer.byteLength(last);
    const first = omitted > 0 ? `[${omitted.toLocaleString("en")} bytes left out]\n` : "";
    return `${first}${last}[${ending.slice(0, MAX_ENDING)}]`.toWellFormed();
  }

  /** Returns the last line that is not empty, without what looks like a secret, also one that began in earlier lines. */
  lastLine(): string {
    return this.#shown()[1].trim().split("\n").at(-1) ?? "";
  }

  /** Returns what is kept, and the same without what looks like a secret. */
  #shown(): [kept: string, shown: string] {
    const kept = this.#before + this.#latest;
    return [kept, redact(kept)];
  }
}

/** Returns the end of a text: whole lines, or whole characters if half of it would be left out by that. */
function lastLines(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let start = bytes.length - most;
  const line = bytes.indexOf("\n", start - 1) + 1;
  if (line <= start + most / 2) start = line;
  else while (((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}
