import { Batcher } from "../../../lib/queue/batcher.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import { isDuplicateKey, refusedRows } from "../../../storage/write-errors.ts";
import type { EventDeps } from "./deps.ts";
import type { Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";

/** The outcome for a row: durable, duplicate key, or its own error. */
export type Inserted = "inserted" | "duplicate" | Error;

interface InserterDeps extends Pick<EventDeps, "events" | "store"> {
  fanOut: FanOut;
}

const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1_048_576;
/** Bytes of events being written: above them the store is slower than its publishers, who must wait. */
const MAX_PENDING = 64 * 1_048_576;
/** A smaller event counts as much. */
const LEAST_BYTES = 3_355;

/** Inserts events; concurrent callers share one round trip. */
export class EventInserter {
  readonly #deps: InserterDeps;
  readonly #batcher: Batcher<Publication, Inserted>;
  readonly #pending = resourceQueue("event_writes", { capacity: MAX_PENDING, maxWaiting: 0 });

  constructor(deps: InserterDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      flush: (publications) => this.#insert(publications),
      weight: ({ row }) => row.size,
      maxItems: MAX_ROWS,
      maxWeight: MAX_BYTES,
    });
  }

  /** Resolves when the events of a tenant are durable, with the outcome of each. @throws Fault as `FairQueue.enter` */
  insert(publications: Publication[]): Promise<Inserted[]> {
    const { tenant_id } = (publications[0] as Publication).row;
    const bytes = publications.reduce((sum, { row }) => sum + Math.max(row.size, LEAST_BYTES), 0);
    const leave = this.#pending.enter({ tenant_id, caller: "" }, bytes);
    return this.#batcher.add(publications).finally(leave);
  }

  async #insert(publications: Publication[]): Promise<Inserted[]> {
    const tenants = Map.groupBy(publications, ({ row }) => row.tenant_id);
    const results = new Map<Publication, Inserted>();
    const insert = async (own: Publication[]) => {
      const inserted = await this.#insertForTenant(own);
      for (const [i, publication] of own.entries()) results.set(publication, inserted[i] as Inserted);
    };
    await Promise.all([...tenants.values()].map(insert));
    return publications.map((publication) => results.get(publication) as Inserted);
  }

  /** Writes events, each leased to this node's fan-out or waiting for its time. */
  async #insertForTenant(publications: Publication[]): Promise<Inserted[]> {
    const { events, store, fanOut } = this.#deps;
    const rows = publications.map(({ row }) => row);
    const now = store.now();
    for (const row of rows) if (!row.due_at) fanOut.lease(row, now);
    const results: Inserted[] = rows.map(() => "inserted");
    try {
      await events.insertMany(rows);
    } catch (err) {
      for (const { index, code, errmsg } of refusedRows(err, rows.length)) {
        const error = Object.assign(new Error(errmsg), { code });
        results[index] = isDuplicateKey(error) ? "duplicate" : error;
      }
    }
    return results;
  }
}
