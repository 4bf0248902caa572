import type { ServiceBroker } from "moleculer";
import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { unavailable } from "../../../lib/contract/faults.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { Removal, Store } from "../../../storage/connection.ts";

/** From best to worst: a receipt names the worst of all files. */
const REMOVALS: Removal[] = ["rewritten", "overwritten", "deleted"];

/**
 * Removes deleted rows from the files of the store and of every node's search index, before a receipt is issued.
 * @throws Fault service_unavailable while a reader keeps a write-ahead log from being emptied
 */
export async function scrub(broker: ServiceBroker, store: Pick<Store, "scrub">): Promise<Removal> {
  try {
    const [record, indexes] = await Promise.all([
      store.scrub(),
      onEveryNode<Removal | null>(broker, "search.scrub", {}),
    ]);
    const worst = Math.max(...[record, ...indexes].map((each) => (each ? REMOVALS.indexOf(each) : 0)));
    return REMOVALS[worst] as Removal;
  } catch (err) {
    if ((err as Error).name !== "ScrubTimeout") throw err;
    const message = "The data is deleted, but a backup or a long query still reads it. Retry in 10 s.";
    throw unavailable(message, 10);
  }
}

/** Returns until when a backup may contain data erased at a time; null if the operator has not configured it. */
export function backupsUntil(
  erasedAt: Date,
  { BACKUP_RETENTION_DAYS }: { BACKUP_RETENTION_DAYS: number },
): string | null {
  if (BACKUP_RETENTION_DAYS === 0) return null;
  return new Date(erasedAt.getTime() + BACKUP_RETENTION_DAYS * DAY_MS).toISOString();
}
