import type { Share } from "../lib/queue/fair-queue.ts";
import { resourceQueue } from "../observability/resources.ts";

/** Rows per write: a few milliseconds of the embedded store's writer. */
const CHUNK = 100;

/**
 * Limit of concurrent rows of large writes: other writes wait for no more than these. They are never refused, because a
 * part may be written already; requests in progress are limited earlier.
 */
const rowsAtOnce = resourceQueue("store_bulk", {
  ...{ capacity: 600, perTenant: 500 },
  ...{ maxWaiting: Number.MAX_SAFE_INTEGER, maxWaitingPerCaller: Number.MAX_SAFE_INTEGER },
});

/**
 * Writes many rows in batches, scheduled fairly between tenants. Rejects with the first failure when all have ended.
 */
export async function writeInChunks<T>(
  share: Share,
  rows: readonly T[],
  write: (chunk: T[]) => Promise<unknown>,
): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, i) =>
    rows.slice(i * CHUNK, (i + 1) * CHUNK),
  );
  const writing = chunks.map((chunk) => rowsAtOnce.run(share, chunk.length, () => write(chunk)));
  for (const outcome of await Promise.allSettled(writing))
    if (outcome.status === "rejected") throw outcome.reason;
}
