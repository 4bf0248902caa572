import { type ThreadEnded, type ThreadLimits, WorkerThread } from "../../../lib/worker-thread.ts";
import type { Piece } from "./chunks.ts";

/** What a reading thread is given. */
export interface ReadRequest {
  bytes: Uint8Array;
  mime_type: string;
}

/** What became of it: the pieces, or why there are none, in words that follow "The file ". */
export type Reading = { pieces: Piece[] } | { unreadable: string };

/**
 * Reads a document in a thread of its own, which ends with it: whatever the file makes a parser do, this process goes
 * on. Never rejects.
 */
export async function readDocument(
  request: ReadRequest,
  signal: AbortSignal,
  limits: ThreadLimits,
): Promise<Reading> {
  // A copy that is handed over whole: what comes from a pool cannot be.
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
  if (reason === "memory") return `needs more than ${megabytes} MB of memory to read`;
  if (reason === "time") return `takes longer than ${seconds} s to read`;
  return reason === "closed" ? "was not read to the end" : "cannot be read";
}
