import { Worker } from "node:worker_threads";
import type { Piece } from "./chunks.ts";

/** What a reading thread is given. */
export interface ReadRequest {
  bytes: Uint8Array;
  mime_type: string;
}

/** What became of it: the pieces, or why there are none, in words that follow "The file ". */
export type Reading = { pieces: Piece[] } | { unreadable: string };

/** How much a document may take to be read. */
export interface ReadLimits {
  seconds: number;
  /** Of the thread's heap and what it holds beside it. */
  megabytes: number;
}

const LOOK_MS = 100;
const MB = 1_048_576;

/**
 * Reads a document in a thread of its own, which ends with it: whatever the file makes a parser do, this process goes
 * on. Never rejects.
 */
export function readDocument(
  request: ReadRequest,
  signal: AbortSignal,
  limits: ReadLimits,
): Promise<Reading> {
  // A copy that is handed over whole: what comes from a pool cannot be.
  const bytes = new Uint8Array(request.bytes);
  const worker = new Worker(new URL("./parsers/thread.ts", import.meta.url), {
    name: "parser",
    workerData: { ...request, bytes },
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: limits.megabytes, stackSizeMb: 4 },
    env: {},
  });
  return new Promise<Reading>((resolve) => {
    const give = (unreadable: string) => resolve({ unreadable });
    worker.once("message", resolve);
    worker.once("error", (err: NodeJS.ErrnoException) =>
      give(err.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooLarge(limits) : "cannot be read"),
    );
    worker.once("exit", () => give("cannot be read"));
    const slow = setTimeout(
      () => give(`takes longer than ${limits.seconds} s to read`),
      limits.seconds * 1000,
    );
    const watch = setInterval(() => watchMemory(worker, limits, give), LOOK_MS);
    const stop = () => give("was not read to the end");
    signal.addEventListener("abort", stop);
    worker.once("exit", () => {
      clearTimeout(slow);
      clearInterval(watch);
      signal.removeEventListener("abort", stop);
    });
  }).finally(() => worker.terminate());
}

/** The limits of threads count their heap only; large buffers stand beside it. */
async function watchMemory(worker: Worker, limits: ReadLimits, give: (why: string) => void): Promise<void> {
  const used = await worker.getHeapStatistics().catch(() => null);
  if (used && used.used_heap_size + used.external_memory > limits.megabytes * MB) give(tooLarge(limits));
}

const tooLarge = ({ megabytes }: ReadLimits) => `needs more than ${megabytes} MB of memory to read`;
