import { Fault } from "../../../lib/contract/faults.ts";
import { Batcher } from "../../../lib/queue/batcher.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { isDuplicateKey, refusedRows } from "../../../storage/write-errors.ts";
import type { EventDoc, Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";

/** The outcome for a row: durable, duplicate key, or its own error. */
export type Inserted = "inserted" | "duplicate" | Error;

interface InserterDeps {
  events: TenantCollection<EventDoc>;
  store: Store;
  fanOut: FanOut;
}

/** Events being written. */
interface Load {
  rows: number;
  bytes: number;
}

const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1_048_576;
/** Above these, publishers must wait: the store is slower than they are. */
const MAX_PENDING: Load = { rows: 20_000, bytes: 64 * 1_048_576 };
/** Capacity guaranteed to a tenant when others have reached the limit. */
const RESERVED: Load = { rows: 500, bytes: 1_048_576 };

/** Inserts events; concurrent callers share one round trip. */
export class EventInserter {
  readonly #deps: InserterDeps;
  readonly #batcher: Batcher<Publication, Inserted>;
  readonly #pendingByTenant = new Map<string, Load>();

  constructor(deps: InserterDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      flush: (publications) =>
        this.#insert(publications).finally(() => {
          for (const { row } of publications) this.#countPending(row, -1);
        }),
      weight: ({ row }) => row.size,
      maxItems: MAX_ROWS,
      maxWeight: MAX_BYTES,
    });
  }

  /** Resolves when the events are durable, with the outcome of each. @throws Fault service_unavailable on overload. */
  insert(publications: Publication[]): Promise<Inserted[]> {
    if (!this.#admits((publications[0] as Publication).row.tenant_id)) {
      const message = "Too many of your events are waiting to be written. Retry in 1 s.";
      throw new Fault("service_unavailable", message, { retry_after_seconds: 1 });
    }
    for (const { row } of publications) this.#countPending(row, 1);
    return this.#batcher.add(publications);
  }

  /** No tenant has more pending than it leaves free: there is always capacity for another. */
  #admits(tenant_id: string): boolean {
    const own = this.#pendingByTenant.get(tenant_id);
    if (!own) return true;
    const { pendingItems, pendingWeight } = this.#batcher;
    return (
      own.rows < Math.max(MAX_PENDING.rows - pendingItems, RESERVED.rows) &&
      own.bytes < Math.max(MAX_PENDING.bytes - pendingWeight, RESERVED.bytes)
    );
  }

  #countPending({ tenant_id, size }: EventDoc, change: 1 | -1): void {
    const own = this.#pendingByTenant.get(tenant_id) ?? { rows: 0, bytes: 0 };
    own.rows += change;
    own.bytes += change * size;
    if (own.rows === 0) this.#pendingByTenant.delete(tenant_id);
    else this.#pendingByTenant.set(tenant_id, own);
  }

  async #insert(publications: Publication[]): Promise<Inserted[]> {
    const [first] = publications;
    if (publications.every(({ row }) => row.tenant_id === first?.row.tenant_id))
      return this.#insertForTenant(publications);
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
