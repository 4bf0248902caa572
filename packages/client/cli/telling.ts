import { ApiError, ConnectionError } from "../errors.ts";
import { adviceOn } from "./advice.ts";
import { write } from "./colour.ts";
import type { Settings } from "./settings.ts";
import { Failure } from "./usage.ts";

/** The right usage: `usage` for programs, `hint` for people. */
interface Usage {
  usage: string;
  hint: string;
}

/** Writes everything but results to standard error: as text, or with `--json` as one JSON object per line. */
export class Telling {
  readonly #stderr: NodeJS.WritableStream;
  readonly #json: boolean;
  /** Undefined until read. */
  #settings: Settings | undefined;
  /** Problems already reported, so that one that then ends the command is not repeated. */
  readonly #reported = new WeakSet<object>();

  /** @param args Checked for `--json` before parsing, since parsing errors are reported too. */
  constructor(args: string[], stderr: NodeJS.WritableStream) {
    this.#stderr = stderr;
    const end = args.indexOf("--");
    this.#json = args.slice(0, end < 0 ? args.length : end).includes("--json");
  }

  /** Sets the settings, which advice on an answer depends on. */
  heed(settings: Settings): void {
    this.#settings = settings;
  }

  /** Reports information that is not an error. */
  note(text: string): void {
    if (this.#json) this.#writeJson({ note: text });
    else this.#line(text);
  }

  /** Reports an error that does not end the command. */
  problem(error: Error): void {
    this.#reported.add(error);
    if (this.#json) this.#writeJson(toEnvelope(error));
    else this.#line(this.#textOf(error) ?? error.message);
  }

  /** Reports wrong usage. */
  misuse(message: string, { usage, hint }: Usage): void {
    if (this.#json) this.#writeJson({ error: { code: "usage_error", message, details: { usage } } });
    else this.#line(`${message}\n\n${hint}`);
  }

  /** Reports the error that ended the command. */
  failure(error: Error): void {
    if (this.#reported.has(error)) return;
    if (this.#json) this.#writeJson(toEnvelope(error));
    else if (error instanceof ConnectionError)
      this.#line(`${error.message}\nRun sensorium doctor for details.`);
    else this.#line(this.#textOf(error) ?? error.stack);
  }

  #writeJson(value: object): void {
    this.#line(JSON.stringify(value));
  }

  #line(text: string | undefined): void {
    write(this.#stderr, `${text}\n`);
  }

  /** Returns nothing for a bug in the command line itself. */
  #textOf(error: Error): string | undefined {
    if (error instanceof ApiError && this.#settings) return adviceOn(error, this.#settings);
    const isExpected = error instanceof ApiError || error instanceof Failure;
    return isExpected ? error.message : undefined;
  }
}

/** Returns an error as an envelope like the service's, and the service's own errors in full. */
function toEnvelope(error: Error): object {
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
