import type { Document } from "mongodb";
import type { OfTenant } from "../lib/access/caller.ts";
import { LruMap } from "../lib/lru-map.ts";
import { backOff } from "../lib/queue/backoff.ts";
import { asBackground } from "../lib/queue/work.ts";
import { metrics } from "../observability/metrics.ts";
import type { TenantCollection, TenantDocument } from "../storage/collection.ts";
import type { Within } from "../storage/commands.ts";
import type { Where } from "../storage/query.ts";
import { isSystemic } from "../storage/store-lost.ts";
import { Quiet } from "./quiet.ts";

/** Which rows of a collection ask for work: those whose field `by`, a date with an index, is over. */
interface Asking<T extends TenantDocument> {
  rows: TenantCollection<T>;
  by: keyof T & string;
  now: () => number;
  batch: number;
  /** Whether `by` says more than when the row is due: then it is set aside in the memory of this node. */
  keeps?: boolean;
  where?: object;
  projection?: Document;
  /** Limit of rows that may be large. */
  bytes?: number;
}

/** Rows of a deletion. */
const DELETED = 200;
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
  readonly #find: () => Promise<Within<T>>;
  readonly #quiet: Quiet;
  readonly #failures = new LruMap<string, number>(MOST_REMEMBERED);
  /** Until when rows are set aside whose `by` must not change. */
  readonly #aside = new LruMap<string, number>(MOST_REMEMBERED);
  /** The rows of the last round: when each was due, and for how many rounds. */
  #last = new Map<string, { at: number; rounds: number }>();

  constructor(asking: Asking<T>) {
    this.#asking = asking;
    this.#quiet = new Quiet(asking.rows.name, asking.now);
    this.#find = withOtherTenants((others) => this.#oldest(others));
  }

  /**
   * Works on some of them, a tenant's together; after a failure each by itself, so the task must bear to be repeated. Returns
   * whether there may be more. @throws Unworked at the end, for the loop to report
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
    const { rows, more } = await this.#find();
    if (rows.length === 0) await this.#quiet.foundNothing(() => this.untilNext());
    const errors: Error[] = [];
    const failed = (rows: T[], err: unknown) =>
      Promise.all(rows.map(async (row) => void errors.push(await this.#setAside(row, err as Error))));
    await Promise.all(
      [...Map.groupBy(rows, ({ tenant_id }) => tenant_id)].map(([tenant_id, some]) =>
        asBackground(tenant_id, this.#asking.rows.name, () => own(some, failed)),
      ),
    );
    await failed(this.#stuck(rows), new Error("It is still due after its work."));
    if (errors.length > 0) throw new Unworked(errors, more && !errors.some(({ cause }) => isSystemic(cause)));
    return more;
  }

  async #oldest(others: object): Promise<Within<T>> {
    const { rows, by, now, batch: limit, where, projection, bytes } = this.#asking;
    const aside = [...this.#aside].filter(([, until]) => until > now()).map(([_id]) => _id);
    const left = aside.length > 0 && { _id: { $nin: aside } };
    const filter = { ...where, [by]: { $lte: new Date(now()) }, ...left, ...others } as never;
    const named = projection && Object.values(projection).some(Boolean) && { tenant_id: 1, [by]: 1 };
    const options = { sort: { [by]: 1 } as const, limit, projection: { ...named, ...projection } };
    const oldest =
      bytes === undefined
        ? { rows: (await rows.system.find(filter, options as never).toArray()) as T[], more: false }
        : await rows.findAnyWithin(filter, { ...options, bytes });
    return { ...oldest, more: oldest.more || oldest.rows.length === limit };
  }

  /** Puts a row off; returns its failure with its name. */
  async #setAside(row: T, err: Error): Promise<Error> {
    const { rows, by, now, keeps } = this.#asking;
    const failures = (this.#failures.get(row._id) ?? 0) + 1;
    this.#failures.set(row._id, failures);
    const own = failures - (isSystemic(err) ? PATIENCE : 0);
    const until = now() + backOff(own) * 1000;
    const still = { _id: row._id, [by]: { $lte: new Date(now()) } };
    const $set = { [by]: new Date(until) };
    if (own > 0) metrics.workSetAside.inc({ collection: rows.name });
    if (own > 0 && keeps) this.#aside.set(row._id, until);
    // Without the record nothing can be put off.
    else if (own > 0) await rows.update(row.tenant_id, still as never, { $set } as never).catch(() => null);
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

/** Filters rows of a tenant whose time is over. */
type Over<T extends TenantDocument> = Where<T> & { _id: { $in: string[] } };

/** Returns a loop's task that ends rows whose time is over, some of each tenant: by default it deletes them. */
export function deletion<T extends TenantDocument, C>(
  asking: Pick<Asking<T>, "rows" | "by" | "now" | "where">,
  end = (tenant_id: string, over: Over<T>, _: C): Promise<unknown> => asking.rows.deleteMany(tenant_id, over),
): (calls?: C) => Promise<boolean> {
  const { by, now, where } = asking;
  const due = new Due({ ...asking, batch: DELETED, keeps: true, projection: { [by]: 1 } });
  return (calls) =>
    due.work((tenant_id, rows) => {
      const ids = { _id: { $in: rows.map(({ _id }) => _id) } };
      return end(tenant_id, { ...where, ...ids, [by]: { $lte: new Date(now()) } } as Over<T>, calls as C);
    });
}

/** Returns the tenants that have rows, each by one step of the index. */
export async function tenantsIn<T extends TenantDocument>(rows: TenantCollection<T>): Promise<OfTenant[]> {
  const tenants: OfTenant[] = [];
  const options = { sort: { tenant_id: 1 }, projection: { tenant_id: 1 } } as const;
  for (let after = ""; ; after = (tenants.at(-1) as OfTenant).tenant_id) {
    const next = await rows.system.findOne({ tenant_id: { $gt: after } } as never, options);
    if (!next) return tenants;
    tenants.push({ tenant_id: next.tenant_id });
  }
}

/**
 * Works on units of several tenants: one of each tenant, then the next one of each. One for which `work` returns true has more
 * and is its tenant's last again. A failure is its own unit's alone. @throws Unworked at the end, for the loop to report
 */
export async function inTurns<U extends OfTenant>(
  what: string,
  units: Iterable<U>,
  work: (unit: U) => Promise<unknown>,
  atOnce = 1,
): Promise<void> {
  const tenants = [...Map.groupBy(units, ({ tenant_id }) => tenant_id).values()];
  const errors: Error[] = [];
  const lane = async () => {
    for (let own = tenants.shift(); own; own = tenants.shift()) {
      const unit = own.shift() as U;
      const { tenant_id } = unit;
      try {
        if ((await asBackground(tenant_id, what, () => work(unit))) === true) own.push(unit);
      } catch (err) {
        errors.push(new Error(`${tenant_id}: ${(err as Error).message}`, { cause: err }));
      }
      if (own.length > 0) tenants.push(own);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (errors.length > 0) throw new Unworked(errors, false);
}

/** Returns the next rows, excluding some tenants, and whether there may be more. */
export type Find<Row> = (others: { tenant_id?: { $nin: string[] } }) => Promise<Within<Row>>;

/** Pause of looks for other tenants after one that found nothing. */
const LOOK_MS = 1_000;
/** Limit of consecutive looks, each for tenants that none before it found. */
const MAX_LOOKS = 8;

/**
 * Finds the oldest rows and, if there may be more, the oldest of other tenants too, so that no backlog of one tenant, of
 * many rows or of few large ones, blocks the others. Looks go on with those whom none found since all were. A look for others
 * scans the whole backlog, so after one that found nothing the next is a second later.
 */
export function withOtherTenants<Row extends OfTenant>(
  find: Find<Row>,
  now = () => performance.now(),
): () => Promise<Within<Row>> {
  let lookAt = Number.NEGATIVE_INFINITY;
  const known = new Set<string>();
  return async () => {
    const oldest = await find({});
    if (!oldest.more || now() < lookAt) return oldest;
    const chosen = [...oldest.rows];
    const began = known.size;
    for (const { tenant_id } of oldest.rows) known.add(tenant_id);
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const { rows, more } = await find({ tenant_id: { $nin: [...known] } });
      chosen.push(...rows);
      for (const { tenant_id } of rows) known.add(tenant_id);
      if (more) continue;
      known.clear();
      break;
    }
    if (began === 0 && chosen.length === oldest.rows.length) lookAt = now() + LOOK_MS;
    return { rows: chosen, more: true };
  };
}
