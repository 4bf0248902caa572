import type { Share } from "../lib/queue/fair-queue.ts";
import { turns } from "../lib/queue/work.ts";

/** Rows per write: a few milliseconds of the embedded store's writer. */
const CHUNK = 100;

/**
 * Writes many rows in batches, each in its turn. A batch is never refused, because others may be written. Rejects with the first failure when all have ended.
 */
export async function writeInChunks<T>(
  share: Share,
  rows: readonly T[],
  write: (chunk: T[]) => Promise<unknown>,
): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, i) =>
    rows.slice(i * CHUNK, (i + 1) * CHUNK),
  );
  const writing = chunks.map(async (chunk) => {
    const release = await turns.acquire(share, 1, 0);
    try {
      await write(chunk);
    } finally {
      release();
    }
  });
  for (const outcome of await Promise.allSettled(writing))
    if (outcome.status === "rejected") throw outcome.reason;
}
