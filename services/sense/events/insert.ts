import { pagesBySize } from "../../../lib/broker/message-size.ts";
import { atTickEnd } from "../../../lib/queue/tick-end.ts";
import { memory } from "../../../lib/queue/work.ts";
import { isDuplicateKey, refusedRows } from "../../../storage/write-errors.ts";
import type { EventDeps } from "./deps.ts";
import type { EventDoc, Publication } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";

/** The outcome for a row: durable, duplicate key, or its own error. */
export type Inserted = "inserted" | "duplicate" | Error;

interface InserterDeps extends Pick<EventDeps, "events" | "store"> {
  fanOut: FanOut;
}

/** The events of one call, which are written together. */
interface Group {
  tenant_id: string;
  rows: EventDoc[];
  resolve(results: Inserted[]): void;
  reject(err: unknown): void;
}

/** Limits of a write, which only a single larger group may exceed. */
const MAX_ROWS = 500;
const MAX_BYTES = 8 * 1_048_576;
/** Memory of an event that is being written, by its bytes: as it was sent, and as a row. A smaller one counts as much. */
const IN_MEMORY = 2;
const LEAST_BYTES = 3_355;

const sizeOf = (rows: EventDoc[], least: number) =>
  rows.reduce((sum, { size }) => sum + Math.max(size, least), 0);

/**
 * Inserts events. Those of one event loop tick share a round trip, which does not wait for earlier ones: the store's
 * driver batches better.
 */
export class EventInserter {
  readonly #deps: InserterDeps;
  #groups: Group[] = [];

  constructor(deps: InserterDeps) {
    this.#deps = deps;
  }

  /** Resolves when the events of a tenant are durable, with the outcome of each. @throws Fault as `FairQueue.enter` */
  insert(publications: Publication[]): Promise<Inserted[]> {
    const rows = publications.map(({ row }) => row);
    const { tenant_id } = rows[0] as EventDoc;
    const leave = memory.enter({ tenant_id, caller: "" }, IN_MEMORY * sizeOf(rows, LEAST_BYTES));
    if (this.#groups.length === 0) atTickEnd(() => this.#flush());
    return new Promise<Inserted[]>((resolve, reject) => {
      this.#groups.push({ tenant_id, rows, resolve, reject });
    }).finally(leave);
  }

  #flush(): void {
    const tenants = Map.groupBy(this.#groups, ({ tenant_id }) => tenant_id);
    this.#groups = [];
    const weightOf = ({ rows }: Group) => sizeOf(rows, MAX_BYTES / MAX_ROWS);
    for (const groups of tenants.values())
      for (const batch of pagesBySize(groups, weightOf, MAX_BYTES)) void this.#write(batch);
  }

  async #write(groups: Group[]): Promise<void> {
    try {
      const results = await this.#insertRows(groups.flatMap(({ rows }) => rows));
      for (const { rows, resolve } of groups) resolve(results.splice(0, rows.length));
    } catch (err) {
      for (const { reject } of groups) reject(err);
    }
  }

  /** Writes a tenant's events, each leased to this node's fan-out or waiting for its time. */
  async #insertRows(rows: EventDoc[]): Promise<Inserted[]> {
    const { events, store, fanOut } = this.#deps;
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
