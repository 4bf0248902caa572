import type { Service, ServiceBroker, ServiceSchema } from "moleculer";
import { isStoreLost } from "../storage/store-lost.ts";

/** Called when a loop's task fails. */
type Report = (err: unknown) => void;

/** Longest delay before a failed task is retried. */
const RETRY_MS = 1000;

/**
 * Whether a run of a loop has more to do and is repeated at once; or after how many milliseconds there will be more, if
 * that is before the interval ends.
 */
export type More = boolean | number;

/**
 * Finds work by polling: runs a task at start, at each nudge, and at an interval as the backstop for lost nudges. One
 * run at a time.
 */
export class Loop {
  readonly #task: () => Promise<More>;
  readonly #interval: number;
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = true;
  /** When the next run is due, on the monotonic clock. */
  #due = Number.POSITIVE_INFINITY;

  /** @param interval milliseconds between runs when there is nothing to do */
  constructor(task: () => Promise<More>, interval: number, report: Report) {
    this.#task = task;
    this.#interval = interval;
    this.#report = report;
  }

  start(): void {
    this.#stopped = false;
    if (this.startMs > 0) this.within(this.startMs);
    else this.#tick();
  }

  /** Milliseconds until the first run without a nudge. */
  protected get startMs(): number {
    return 0;
  }

  /** Whether to run the task without a nudge. */
  protected isDue(): boolean {
    return true;
  }

  /** Runs the task now, or again after the current run. */
  nudge(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Runs the task in so many milliseconds, if no earlier run is due. */
  within(ms: number): void {
    const due = performance.now() + Math.max(0, ms);
    if (this.#stopped || due >= this.#due) return;
    this.#due = due;
    if (!this.#running) this.#wait();
  }

  /** Starts no further run; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #tick(): void {
    this.#due = Number.POSITIVE_INFINITY;
    if (this.isDue()) this.nudge();
    else this.within(this.#interval);
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, this.#due - performance.now()));
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
    let wait = this.#interval;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        const more = await this.#task();
        if (more === true) this.#again = true;
        else if (more !== false) wait = Math.min(more, this.#interval);
      } catch (err) {
        this.#report(err);
        wait = Math.min(wait, RETRY_MS);
      }
    }
    this.#running = undefined;
    if (this.#stopped) return;
    this.#due = Math.min(this.#due, performance.now() + wait);
    this.#wait();
  }
}

/** A service's background work. */
interface Worker {
  start(): void;
  stop(): Promise<void>;
}

/**
 * A Moleculer mixin: starts workers when every service of the node has started, because they call each other, and stops
 * them with the service.
 */
export function working(workers: () => Worker[]): Partial<ServiceSchema> {
  return {
    events: {
      "$broker.started"() {
        for (const worker of workers()) worker.start();
      },
    },
    async stopped() {
      await Promise.all(workers().map((worker) => worker.stop()));
    },
  };
}

/** A loop of a service, which must include its `mixin`. Every node runs it: for work that belongs to the node. */
export class ServiceLoop extends Loop {
  readonly mixin: Partial<ServiceSchema>;
  protected readonly name: string;
  protected service!: Service;

  /** @param name distinguishes the loops of a service, in its log too */
  constructor(name: string, task: (broker: ServiceBroker) => Promise<More>, interval: number) {
    const report = (err: unknown) =>
      this.service.logger.warn(
        { err },
        `${this.service.name}: the loop "${name}" failed and will be retried`,
      );
    super(() => task(this.service.broker), interval, report);
    this.name = name;
    const setService = (service: Service) => {
      this.service = service;
    };
    const created = function (this: Service) {
      setService(this);
    };
    this.mixin = { created, ...working(() => [this]) };
  }
}

/**
 * Runs a task for each row in order. A failing row does not stop the others, and its error is thrown at the end; an
 * error that would affect every row, such as a missing store or service, is thrown at once.
 *
 * @param failed called for a row whose task failed by itself
 */
export async function eachInTurn<Row>(
  rows: readonly Row[],
  task: (row: Row) => Promise<unknown>,
  failed: (row: Row) => Promise<unknown> = async () => {},
): Promise<void> {
  const failures: unknown[] = [];
  for (const row of rows) {
    await task(row).catch(async (err) => {
      if ((err as { retryable?: boolean }).retryable || isStoreLost(err)) throw err;
      failures.push(err);
      await failed(row);
    });
  }
  if (failures.length > 0) throw failures[0];
}

interface OfTenant {
  tenant_id: string;
}

/** Returns the next rows, excluding some tenants. */
export type Find<Row> = (others: { tenant_id?: { $nin: string[] } }) => Promise<Row[]>;

/**
 * Runs a task for the rows of one tenant after another. A tenant whose task fails is skipped until all others are done,
 * so that it blocks nobody. Its error is thrown at the end, as in `eachInTurn`.
 *
 * @param find returns fewer rows than `batch` at the end
 * @returns whether there may be more
 */
export async function tenantsInTurn<Row extends OfTenant>(
  find: Find<Row>,
  batch: number,
  task: (tenant_id: string, rows: Row[]) => Promise<unknown>,
): Promise<boolean> {
  const failed: string[] = [];
  const failures: unknown[] = [];
  for (let more = true; more; ) {
    const rows = await find(failed.length ? { tenant_id: { $nin: failed } } : {});
    const before = failed.length;
    const byTenant = [...Map.groupBy(rows, ({ tenant_id }) => tenant_id)];
    const fail = async ([tenant_id]: [string, Row[]]) => void failed.push(tenant_id);
    await eachInTurn(byTenant, ([tenant_id, those]) => task(tenant_id, those), fail).catch((err) => {
      if (failed.length === before) throw err;
      failures.push(err);
    });
    more = rows.length >= batch;
    // While none fails the caller may stop in between.
    if (failed.length === 0) return more;
  }
  throw failures[0];
}

/** Pause of looks for other tenants after one that found nothing. */
const LOOK_MS = 1_000;
/** Limit of consecutive looks, each for tenants that none before it found. */
const MAX_LOOKS = 8;

/**
 * Finds the oldest rows and, if they fill a batch, the oldest of other tenants too, so that no backlog of one tenant
 * blocks the others. A look for others scans the whole backlog, so after one that found nothing the next is a second
 * later.
 *
 * @param find returns the oldest rows, `batch` at most
 * @returns a `find` that returns at least `batch` rows if there may be more
 */
export function withOtherTenants<Row extends OfTenant>(
  find: Find<Row>,
  batch: number,
  now = () => performance.now(),
): Find<Row> {
  let lookAt = Number.NEGATIVE_INFINITY;
  return async (others) => {
    const rows = await find(others);
    if (rows.length < batch || now() < lookAt) return rows;
    const found = [...rows];
    const known = new Set([...(others.tenant_id?.$nin ?? []), ...tenantsOf(rows)]);
    for (let last = rows, looks = 0; last.length === batch && looks < MAX_LOOKS; looks++) {
      last = await find({ tenant_id: { $nin: [...known] } });
      found.push(...last);
      for (const tenant_id of tenantsOf(last)) known.add(tenant_id);
    }
    if (found.length === rows.length) lookAt = now() + LOOK_MS;
    return found;
  };
}

const tenantsOf = (rows: OfTenant[]): string[] => rows.map(({ tenant_id }) => tenant_id);
