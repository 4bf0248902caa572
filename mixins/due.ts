import type { Document } from "mongodb";
import { LruMap } from "../lib/lru-map.ts";
import { backOff } from "../lib/queue/backoff.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import type { Within } from "../storage/commands.ts";
import { isSystemic } from "../storage/store-lost.ts";
import { Quiet } from "./quiet.ts";

/** Which rows of a collection ask for work: those whose field `by`, a date with an index, is over. */
interface Asking<T extends TenantDocument> {
  rows: TenantCollection<T>;
  by: keyof T & string;
  now: () => number;
  batch: number;
  where?: object;
  projection?: Document;
  /** Limit of rows that may be large. */
  bytes?: number;
}

/** Rounds in which a row may fail for a reason that is not its own, or be due again, before it is set aside. */
const PATIENCE = 5;
const MOST_REMEMBERED = 1000;

/** Rows that were set aside, or cannot be worked on now. `more`: whether others may be due. */
export class Unworked extends Error {
  readonly more: boolean;

  constructor(errors: readonly Error[], more: boolean) {
    super([...new Set(errors.map(({ message }) => message))].slice(0, 5).join("; "), { cause: errors[0] });
    this.more = more;
  }
}

/**
 * The rows of all tenants that are due, the oldest first, and of every tenant some: how background work finds them. A row
 * whose work fails is set aside, for longer each time, and its tenant's failure is nobody else's.
 */
export class Due<T extends TenantDocument> {
  readonly #asking: Asking<T>;
  readonly #find: Find<T>;
  readonly #quiet: Quiet;
  readonly #failures = new LruMap<string, number>(MOST_REMEMBERED);
  /** The rows of the last round: when each was due, and for how many rounds. */
  #last = new Map<string, { at: number; rounds: number }>();

  constructor(asking: Asking<T>) {
    this.#asking = asking;
    this.#quiet = new Quiet(asking.rows.name, asking.now);
    this.#find = withOtherTenants((others) => this.#oldest(others));
  }

  /**
   * Works on some of them, a tenant's together. Should that fail, each is tried by itself: so the task must bear to be
   * repeated.
   *
   * @returns whether there may be more
   * @throws Unworked at the end, for the loop to report
   */
  work(task: (tenant_id: string, rows: T[]) => Promise<unknown>): Promise<boolean> {
    return this.#round(async (rows, failed) => {
      const [{ tenant_id }] = rows as [T];
      try {
        await task(tenant_id, rows);
      } catch (err) {
        if (rows.length === 1 || isSystemic(err)) return failed(rows, err);
        for (const row of rows) await task(tenant_id, [row]).catch((own) => failed([row], own));
      }
    });
  }

  /** The same for a task that works on one row. */
  each(task: (row: T) => Promise<unknown>): Promise<boolean> {
    return this.#round(async (rows, failed) => {
      for (const row of rows)
        try {
          await task(row);
        } catch (err) {
          await failed(isSystemic(err) ? rows.slice(rows.indexOf(row)) : [row], err);
          if (isSystemic(err)) return;
        }
    });
  }

  /** Returns the milliseconds until the next one is due; false if there is none. */
  async untilNext(): Promise<number | false> {
    if (this.#quiet.isQuiet) return this.#quiet.untilNext;
    const { rows, by, now, where } = this.#asking;
    const filter = { ...where, [by]: { $gt: new Date(0) } } as never;
    const row = await rows.system.findOne(filter, { sort: { [by]: 1 }, projection: { [by]: 1 } });
    return row ? Math.max(0, this.#at(row as T) - now()) : false;
  }

  async #round(
    own: (rows: T[], failed: (rows: T[], err: unknown) => Promise<unknown>) => Promise<unknown>,
  ): Promise<boolean> {
    if (this.#quiet.isQuiet) return false;
    this.#quiet.begin();
    const { rows, more } = await this.#find({});
    if (rows.length === 0) await this.#quiet.foundNothing(() => this.untilNext());
    const errors: Error[] = [];
    const failed = (those: T[], err: unknown) =>
      Promise.all(those.map(async (row) => void errors.push(await this.#setAside(row, err as Error))));
    await Promise.all(
      [...Map.groupBy(rows, ({ tenant_id }) => tenant_id).values()].map((some) => own(some, failed)),
    );
    await failed(this.#stuck(rows), new Error("It is still due after its work."));
    if (errors.length > 0) throw new Unworked(errors, more && !errors.some(({ cause }) => isSystemic(cause)));
    return more;
  }

  async #oldest(others: object): Promise<Within<T>> {
    const { rows, by, now, batch: limit, where, projection, bytes } = this.#asking;
    const filter = { ...where, [by]: { $lte: new Date(now()) }, ...others } as never;
    const named = projection && Object.values(projection).some(Boolean) && { tenant_id: 1, [by]: 1 };
    const options = { sort: { [by]: 1 } as const, limit, projection: { ...named, ...projection } };
    const found =
      bytes === undefined
        ? { rows: (await rows.system.find(filter, options as never).toArray()) as T[], more: false }
        : await rows.findAnyWithin(filter, { ...options, bytes });
    return { ...found, more: found.more || found.rows.length === limit };
  }

  /** Puts a row off; returns its failure with its name. */
  async #setAside(row: T, err: Error): Promise<Error> {
    const { rows, by, now } = this.#asking;
    const failures = (this.#failures.get(row._id) ?? 0) + 1;
    this.#failures.set(row._id, failures);
    const own = failures - (isSystemic(err) ? PATIENCE : 0);
    const due = { [by]: new Date(now() + backOff(own) * 1000) };
    const still = { _id: row._id, [by]: { $lte: new Date(now()) } };
    // Without the record nothing can be put off.
    if (own > 0) await rows.update(row.tenant_id, still as never, { $set: due } as never).catch(() => null);
    return new Error(`${row.tenant_id} ${row._id}: ${err.message}`, { cause: err });
  }

  /** Returns the rows that have been due at the same time for too long, although no work on them failed. */
  #stuck(rows: T[]): T[] {
    const before = this.#last;
    this.#last = new Map();
    return rows.filter((row) => {
      const { at, rounds } = before.get(row._id) ?? { at: Number.NaN, rounds: 0 };
      const again = at === this.#at(row) ? rounds + 1 : 0;
      this.#last.set(row._id, { at: this.#at(row), rounds: again });
      return again >= PATIENCE;
    });
  }

  #at(row: T): number {
    return (row[this.#asking.by] as Date).getTime();
  }
}

interface OfTenant {
  tenant_id: string;
}

/** Returns the next rows, excluding some tenants, and whether there may be more. */
export type Find<Row> = (others: { tenant_id?: { $nin: string[] } }) => Promise<Within<Row>>;

/** Pause of looks for other tenants after one that found nothing. */
const LOOK_MS = 1_000;
/** Limit of consecutive looks, each for tenants that none before it found. */
const MAX_LOOKS = 8;

/**
 * Finds the oldest rows and, if there may be more, the oldest of other tenants too, so that no backlog of one tenant, of
 * many rows or of few large ones, blocks the others. A look for others scans the whole backlog, so after one that found
 * nothing the next is a second later.
 */
export function withOtherTenants<Row extends OfTenant>(
  find: Find<Row>,
  now = () => performance.now(),
): Find<Row> {
  let lookAt = Number.NEGATIVE_INFINITY;
  return async (others) => {
    const oldest = await find(others);
    if (!oldest.more || now() < lookAt) return oldest;
    const found = [...oldest.rows];
    const known = new Set([...(others.tenant_id?.$nin ?? []), ...tenantsOf(found)]);
    for (let last = oldest, looks = 0; last.more && looks < MAX_LOOKS; looks++) {
      last = await find({ tenant_id: { $nin: [...known] } });
      found.push(...last.rows);
      for (const tenant_id of tenantsOf(last.rows)) known.add(tenant_id);
    }
    if (found.length === oldest.rows.length) lookAt = now() + LOOK_MS;
    return { rows: found, more: true };
  };
}

const tenantsOf = (rows: OfTenant[]): string[] => rows.map(({ tenant_id }) => tenant_id);
