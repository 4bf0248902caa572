import type { Share } from "../../../../lib/queue/fair-queue.ts";
import { ThreadEnded, WorkerThread } from "../../../../lib/worker-thread.ts";
import { resourceQueue } from "../../../../observability/resources.ts";
import { halfCharacter, notJson } from "./body.ts";
import type { Split, SplitRequest, Splitting } from "./split.ts";

const IDLE_MS = 30_000;
const MEGABYTES = 512;

/** Other callers' bodies are processed between those of a heavy sender. */
const queue = resourceQueue("split", {
  capacity: 1,
  chargeTime: true,
  maxWaiting: 64,
  maxWaitingPerCaller: 16,
  patienceMs: 20_000,
});

const thread = new WorkerThread<SplitRequest, Splitting>({
  name: "splitter",
  module: new URL("./split-thread.mjs", import.meta.url),
  limits: { megabytes: MEGABYTES },
  idleMs: IDLE_MS,
});

/** Parses large bodies in a thread, one at a time, so that the main thread keeps serving. */
export const splitter = {
  /**
   * Splits the body's list into chunks of `most` bytes. @throws Fault validation_failed, rate_limited,
   * service_unavailable
   */
  async split(raw: Buffer, field: string | null, most: number, share: Share): Promise<Split> {
    const splitting = await queue.run(share, 1, () => request(raw, field, most)).catch(refuse);
    if ("notJson" in splitting) throw notJson(splitting.notJson, splitting.field);
    if ("half" in splitting) throw halfCharacter(splitting.half);
    return splitting;
  },

  /** Stops the thread; the next body starts another. */
  close: () => thread.close(),
};

function request(raw: Buffer, field: string | null, most: number): Promise<Splitting> {
  // Transfer a copy: pooled memory cannot be transferred.
  const bytes = new Uint8Array(raw);
  return thread.request({ bytes, field, most }, [bytes.buffer]);
}

function refuse(err: unknown): never {
  if (!(err instanceof ThreadEnded) || err.reason !== "memory") throw err;
  throw notJson(`the body is over the limit for JSON: it needs more than ${MEGABYTES} MB of memory`);
}
