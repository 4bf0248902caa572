import { Batcher } from "../../lib/batcher.ts";
import { Fault } from "../../lib/faults.ts";
import { isDuplicateKey, refusedRows, type TenantCollection } from "../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** What became of a row: it is durable, its key was taken, or the error that it alone met. */
export type Inserted = "inserted" | "duplicate" | Error;

const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1_048_576;
/** Beyond these, publishers are asked to wait: the store is slower than they are. */
const MAX_PENDING_ROWS = 20_000;
const MAX_PENDING_BYTES = 64 * 1_048_576;

/** Inserts events; concurrent callers share one round trip. */
export class EventInserter {
  readonly #batcher: Batcher<EventDoc, Inserted>;

  constructor(events: TenantCollection<EventDoc>) {
    this.#batcher = new Batcher({
      flush: (rows) => insertRows(events, rows),
      weight: (row) => row.size,
      maxItems: MAX_ROWS,
      maxWeight: MAX_BYTES,
    });
  }

  /** Resolves when the rows are durable, with what became of each. @throws Fault service_unavailable on overload. */
  insert(rows: EventDoc[]): Promise<Inserted[]> {
    const { pendingItems, pendingWeight } = this.#batcher;
    if (pendingItems >= MAX_PENDING_ROWS || pendingWeight >= MAX_PENDING_BYTES) {
      throw new Fault("service_unavailable", "Too many events are waiting to be written; try again.", {
        retry_after_seconds: 1,
      });
    }
    return this.#batcher.add(rows);
  }
}

async function insertRows(events: TenantCollection<EventDoc>, rows: EventDoc[]): Promise<Inserted[]> {
  const results: Inserted[] = rows.map(() => "inserted");
  try {
    await events.insertMany(rows);
  } catch (err) {
    for (const { index, code, errmsg } of refusedRows(err, rows.length)) {
      results[index] = isDuplicateKey(Object.assign(new Error(errmsg), { code }))
        ? "duplicate"
        : new Error(errmsg);
    }
  }
  return results;
}
