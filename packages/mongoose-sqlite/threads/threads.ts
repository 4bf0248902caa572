import { Channel, type ErrorMaker, OnDemand, type ThreadsOptions } from "./channel.ts";
import type { ReadRequest, WriteRequest } from "./protocol.ts";

export type { ThreadsOptions } from "./channel.ts";

/** The threads that own the data file's connections. */
export type Threads = {
  writer: Channel<WriteRequest>;
  /** For short reads that an index answers. */
  reader: Channel<ReadRequest>;
  /** For reads that may scan many rows, so that short ones do not wait; runs only while needed. */
  scanner(): Channel<ReadRequest>;
  makeError: ErrorMaker;
  onRead: ThreadsOptions["onRead"];
  /** Completes accepted requests, checkpoints into the main file and ends the threads. */
  close(): Promise<void>;
};

const SCANNER_IDLE_MS = 60_000;

/** Starts both threads on a data file. Rejects with a one-line reason if the file cannot be used. */
export async function startThreads(
  file: string,
  makeError: ErrorMaker,
  onDeath: (error: Error) => void,
  options: ThreadsOptions = {},
): Promise<Threads> {
  const settings = (module: string, name: string) => ({
    ...options,
    name,
    file,
    module: new URL(module, import.meta.url),
  });
  const writer = new Channel<WriteRequest>(settings("./writer.ts", "store-writer"), makeError, onDeath);
  const newReader = (name: string, onDeath: (error: Error) => void) =>
    new Channel<ReadRequest>(settings("./reader.ts", name), makeError, onDeath);
  const reader = newReader("store-reader", onDeath);
  const startScanner = () => newReader("store-scanner", (error) => wasNotStarted(error) || onDeath(error));
  const scanner = new OnDemand({ start: startScanner, idleMs: SCANNER_IDLE_MS });
  const close = async () => {
    // readers first: a checkpoint of the whole log needs them gone
    await Promise.all([reader.close(), scanner.close()]);
    await writer.close();
  };
  try {
    await Promise.all([writer.ready(), reader.ready()]);
  } catch (error) {
    await close();
    throw error;
  }
  const getScanner = () => scanner.get();
  writer.onLongLog = checkpointing(writer, getScanner);
  return { writer, reader, scanner: getScanner, makeError, onRead: options.onRead, close };
}

/** The process has no files or threads left; a later attempt may succeed. */
function wasNotStarted(error: Error & { code?: string }): boolean {
  return error.code === "ERR_WORKER_INIT_FAILED";
}

/** Copies the log into the file concurrently with the writer, which would otherwise hold up all commits meanwhile. */
function checkpointing(writer: Channel<WriteRequest>, getScanner: () => Channel<ReadRequest>): () => void {
  let running = false;
  return () => {
    if (running) return;
    running = true;
    // the second pass is short and leaves the writer almost nothing
    const pass = () => getScanner().request({ op: "checkpoint" });
    pass()
      .then(pass)
      .then(() => writer.request({ op: "finishCheckpoint" }))
      // refused while closing, when the writer copies everything itself
      .catch(() => undefined)
      .finally(() => {
        running = false;
      });
  };
}
