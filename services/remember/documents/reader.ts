import { type ThreadEnded, type ThreadLimits, WorkerThread } from "../../../lib/worker-thread.ts";
import type { Piece } from "./chunks.ts";
import type { DocumentReaders, Loss } from "./parsers/page.ts";

/** Input of a reading thread. */
export interface ReadRequest {
  bytes: Uint8Array;
  mime_type: string;
  readers: DocumentReaders;
}

/** What is read of a document, and what is not. */
export interface ReadText {
  pieces: Piece[];
  losses: Loss[];
}

/** Result: the text, or why there is none, in words that follow "The file ". */
export type Reading = ReadText | { unreadable: string };

/**
 * Reads a document in a separate thread that ends with it, so that a parser cannot block or crash this process. Never
 * rejects.
 */
export async function readDocument(
  request: ReadRequest,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<Reading> {
  // Copied so that it can be transferred: pooled memory cannot be.
  const bytes = new Uint8Array(request.bytes);
  const module = new URL("./parsers/thread.ts", import.meta.url);
  const thread = new WorkerThread<ReadRequest, Reading>({ name: "parser", module, limits, idleMs: 0 });
  const stop = () => thread.close();
  signal.addEventListener("abort", stop);
  return thread
    .request({ ...request, bytes }, [bytes.buffer])
    .catch(({ reason }: ThreadEnded) => ({ unreadable: whyNot(reason, limits) }))
    .finally(() => signal.removeEventListener("abort", stop));
}

function whyNot(reason: ThreadEnded["reason"], { seconds, megabytes }: ThreadLimits): string {
  if (reason === "memory") return `needs more than ${megabytes} MB of memory to parse`;
  if (reason === "time") return `takes longer than ${seconds} s to parse`;
  return reason === "closed" ? "was not parsed completely" : "cannot be parsed";
}
