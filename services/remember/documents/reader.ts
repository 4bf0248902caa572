import { ThreadEnded, type ThreadLimits, WorkerThread } from "../../../lib/worker-thread.ts";
import type { Piece } from "./chunks.ts";
import type { Loss } from "./documents.contract.ts";
import type { DocumentReaders } from "./parsers/page.ts";

/** Input of a reading thread. */
export interface ReadRequest {
  bytes: Uint8Array;
  mime_type: string;
  readers: DocumentReaders;
}

/** How the thread reads pages. */
export interface ReadPages {
  /** Numbers of those that broke a limit. */
  leaveOut: readonly number[];
  /** It writes the number of the page that it reads here. */
  current: Int32Array;
  /** Processor time after which it leaves out the rest. */
  cpuSeconds: number;
}

/** The text read of a document, and its losses. */
export interface ReadText {
  pieces: Piece[];
  losses: Loss[];
}

/** Result: the text, or why there is none, in words that follow "The file ". */
export type Reading = ReadText | { unreadable: string };

/** So many pages that break a limit are left out; with one more, the document is unreadable. */
const MOST_LEFT_OUT = 3;
/** The rest of the time is for making chunks. */
const PAGES_SHARE = 0.8;

/**
 * Reads a document in a separate thread that ends with it, so that a parser cannot block or crash this process. A page
 * that needs more than the limits is left out, and is a loss. Never rejects.
 */
export async function readDocument(
  request: ReadRequest,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<Reading> {
  const current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const leaveOut: number[] = [];
  const cpuSeconds = (limits.cpuSeconds ?? Number.POSITIVE_INFINITY) * PAGES_SHARE;
  let broken: Reading | undefined;
  for (;;) {
    current[0] = 0;
    const reading = await readIn(request, { leaveOut, current, cpuSeconds }, signal, limits);
    if (!(reading instanceof ThreadEnded)) return "unreadable" in reading ? (broken ?? reading) : reading;
    broken ??= { unreadable: whyNot(reading.reason, limits) };
    const isTooMuch = reading.reason === "memory" || reading.reason === "time";
    const page = current[0];
    if (!isTooMuch || !page || leaveOut.includes(page) || leaveOut.length === MOST_LEFT_OUT) return broken;
    leaveOut.push(page);
  }
}

async function readIn(
  request: ReadRequest,
  pages: ReadPages,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<Reading | ThreadEnded> {
  // Copied so that it can be transferred: pooled memory cannot be.
  const bytes = new Uint8Array(request.bytes);
  const module = new URL("./parsers/thread.ts", import.meta.url);
  const thread = new WorkerThread<ReadRequest & ReadPages, Reading>({
    ...{ name: "parser", module, limits, idleMs: 0 },
  });
  const stop = () => thread.close();
  signal.addEventListener("abort", stop);
  return thread
    .request({ ...request, ...pages, bytes }, [bytes.buffer])
    .catch((ended: ThreadEnded) => ended)
    .finally(() => signal.removeEventListener("abort", stop));
}

function whyNot(reason: ThreadEnded["reason"], { cpuSeconds, megabytes }: ThreadLimits): string {
  if (reason === "memory") return `needs more than ${megabytes} MB of memory to parse`;
  if (reason === "time") return `takes longer than ${cpuSeconds} s to parse`;
  return reason === "closed" ? "was not parsed completely" : "cannot be parsed";
}
