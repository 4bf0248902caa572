import { MAX_CHARACTERS, TooMuchText } from "../../../../lib/text/blocks.ts";
import { UnreadableError } from "./page.ts";

/**
 * Returns JSON, or several values of JSON after each other, as lines such as `order.items[0].sku: A-1`, with a blank line
 * after each record. @throws UnreadableError with the line of an error, TooMuchText
 */
export function readJson(text: string): string {
  return new JsonReader(text).read();
}

const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
const STRING = String.raw`"${PLAIN}(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})${PLAIN})*"`;
const LITERAL = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null)\b`;
/** White space, then the next token if there is one. */
const TOKEN = new RegExp(String.raw`[ \t\n\r]*(?:([{}[\],:])|(${STRING})|(${LITERAL}))?`, "y");
const MAX_DEPTH = 200;
const SHOWN = 20;

interface Token {
  /** `{`, `}`, `[`, `]`, `,`, `:`; `string`, `literal`, `other` for what is not JSON, or `end`. */
  kind: string;
  text: string;
}

/** Reads values as they are written, so that no number is rounded and no repeated key is lost. */
class JsonReader {
  readonly #text: string;
  readonly #lines: string[] = [];
  #length = 0;
  #depth = 0;
  /** Position of the token. */
  #at = 0;
  #token: Token = { kind: "end", text: "" };

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  read(): string {
    while (this.#token.kind !== "end") {
      this.#value("");
      this.#endRecord();
    }
    return this.#lines.join("\n");
  }

  #value(path: string): void {
    if (++this.#depth > MAX_DEPTH) throw new UnreadableError("is nested too deeply");
    if (this.#token.kind === "{") this.#object(path);
    else if (this.#token.kind === "[") this.#array(path);
    else this.#add(path, [this.#scalar()]);
    this.#depth--;
  }

  #object(path: string): void {
    this.#items("}", () => {
      const key = this.#take("string", "a key in double quotes");
      this.#take(":", "a colon");
      this.#value(path ? `${path}.${key}` : key);
    });
  }

  /** Scalars become one line, in which they stand after the others. */
  #array(path: string): void {
    const scalars: string[] = [];
    let index = 0;
    this.#items("]", () => {
      const { kind } = this.#token;
      if (kind === "{" || kind === "[") {
        this.#value(path && `${path}[${index}]`);
        if (kind === "{") this.#endRecord();
      } else scalars.push(this.#scalar());
      index++;
    });
    this.#add(path, scalars);
  }

  #items(close: string, read: () => void): void {
    this.#next();
    for (let isFirst = true; this.#token.kind !== close; isFirst = false) {
      if (!isFirst) this.#take(",", `a comma or ${close}`);
      read();
    }
    this.#next();
  }

  #scalar(): string {
    return this.#token.kind === "literal" ? this.#take("literal") : this.#take("string", "a value");
  }

  #add(path: string, values: string[]): void {
    const shown = values.filter((value) => value.trim()).join(", ");
    if (!shown) return;
    const line = path ? `${path}: ${shown}` : shown;
    this.#length += line.length;
    if (this.#length > MAX_CHARACTERS) throw new TooMuchText();
    this.#lines.push(line);
  }

  #endRecord(): void {
    if (this.#lines.at(-1)) this.#lines.push("");
  }

  /** Returns the text of a token of this kind, and goes on to the next. @throws UnreadableError for another */
  #take(kind: string, expected = kind): string {
    if (this.#token.kind !== kind) throw this.#error(expected);
    const { text } = this.#token;
    this.#next();
    return kind === "string" ? (JSON.parse(text) as string) : text;
  }

  #next(): void {
    TOKEN.lastIndex = this.#at + this.#token.text.length;
    const [, sign, string, literal] = TOKEN.exec(this.#text) ?? [];
    const text = sign ?? string ?? literal ?? "";
    const end = TOKEN.lastIndex;
    const other = end < this.#text.length ? "other" : "end";
    const kind = sign ?? (string ? "string" : literal ? "literal" : other);
    this.#at = end - text.length;
    this.#token = { kind, text };
  }

  #error(expected: string): UnreadableError {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    const found = this.#text
      .slice(this.#at, this.#at + SHOWN)
      .split("\n", 1)[0]
      ?.trim();
    const fault = found ? `has "${found}"` : "ends";
    return new UnreadableError(`is not valid JSON: line ${line} ${fault} where ${expected} is expected`);
  }
}
