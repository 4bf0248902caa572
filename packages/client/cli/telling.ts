import { ApiError, ConnectionError } from "../errors.ts";
import { adviceOn } from "./advice.ts";
import type { Settings } from "./settings.ts";
import { Failure } from "./usage.ts";

/** How it is typed right: `usage` for programs, `hint` for people. */
interface Usage {
  usage: string;
  hint: string;
}

/** Says on standard error what is no result: in words, or with `--json` as one JSON object a line. */
export class Telling {
  readonly #json: boolean;
  /** Missing until they are read. */
  #settings: Settings | undefined;
  /** Problems that were told: one that ends the command after all is not told twice. */
  readonly #told = new WeakSet<object>();

  /** @param args Looked at before they are parsed: what is wrong with them is told too. */
  constructor(args: string[]) {
    const end = args.indexOf("--");
    this.#json = args.slice(0, end < 0 ? args.length : end).includes("--json");
  }

  /** What is said of an answer depends on where the address and the key come from. */
  heed(settings: Settings): void {
    this.#settings = settings;
  }

  /** What the user should know and is no error. */
  note(text: string): void {
    if (this.#json) writeJson({ note: text });
    else write(text);
  }

  /** What went wrong and is no end. */
  problem(error: Error): void {
    this.#told.add(error);
    if (this.#json) writeJson(envelopeOf(error));
    else write(this.#textOf(error) ?? error.message);
  }

  /** What was typed wrong. */
  misuse(message: string, { usage, hint }: Usage): void {
    if (this.#json) writeJson({ error: { code: "usage_error", message, details: { usage } } });
    else write(`${message}\n\n${hint}`);
  }

  /** What ended the command. */
  failure(error: Error): void {
    if (this.#told.has(error)) return;
    if (this.#json) writeJson(envelopeOf(error));
    else if (error instanceof ConnectionError) write(`${error.message}\nafferent doctor tells more.`);
    else write(this.#textOf(error) ?? error.stack);
  }

  /** Nothing of a fault of the command line itself. */
  #textOf(error: Error): string | undefined {
    if (error instanceof ApiError && this.#settings) return adviceOn(error, this.#settings);
    const isExpected = error instanceof ApiError || error instanceof Failure;
    return isExpected ? error.message : undefined;
  }
}

/** An error in the form that the service gives errors; of its own answers all that they said. */
function envelopeOf(error: Error): object {
  const { message, stack } = error;
  const why = error instanceof Failure ? error.why : error;
  if (typeof why === "string") return { error: { code: why, message } };
  if (why instanceof ApiError) {
    const { code, details, requestId } = why;
    return { error: { code, message, details, ...(requestId && { request_id: requestId }) } };
  }
  if (why instanceof ConnectionError) return { error: { code: "unreachable", message } };
  return { error: { code: "unexpected_error", message, details: { stack } } };
}

function writeJson(value: object): void {
  write(JSON.stringify(value));
}

function write(text: string | undefined): void {
  process.stderr.write(`${text}\n`);
}
