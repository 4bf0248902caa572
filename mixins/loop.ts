import type { Service, ServiceBroker, ServiceSchema } from "moleculer";
import { isStoreLost } from "../storage/store-lost.ts";

/** What a loop tells when its task fails. */
type Report = (err: unknown) => void;

/** A task that failed is tried again after so long at the most. */
const RETRY_MS = 1000;

/**
 * Work found by looking: a task that runs at start, at each nudge, and at an interval as the backstop for nudges
 * that were lost. One run at a time; a run that returns true has more to do and is followed by the next at once.
 */
export class Loop {
  readonly #task: () => Promise<boolean>;
  readonly #interval: number;
  readonly #report: Report;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = true;

  /** @param interval milliseconds between looks when there is nothing to do */
  constructor(task: () => Promise<boolean>, interval: number, report: Report) {
    this.#task = task;
    this.#interval = interval;
    this.#report = report;
  }

  start(): void {
    this.#stopped = false;
    this.nudge();
  }

  /** Looks now; or once more, when it is looking already. */
  nudge(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** No further run begins; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    let wait = this.#interval;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        if (await this.#task()) this.#again = true;
      } catch (err) {
        this.#report(err);
        wait = Math.min(wait, RETRY_MS);
      }
    }
    this.#running = undefined;
    if (!this.#stopped) this.#timer = setTimeout(() => this.nudge(), wait);
  }
}

/** What a service does by itself, beside its actions. */
interface Worker {
  start(): void;
  stop(): Promise<void>;
}

/**
 * A Moleculer mixin: starts workers when every service of the node has started, as they ask each other, and stops them
 * with the service.
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

/** A loop of a service, which has `mixin` among its mixins. */
export class ServiceLoop extends Loop {
  readonly mixin: Partial<ServiceSchema>;

  /** @param failed is logged with what the task threw, before it is tried again */
  constructor(task: (broker: ServiceBroker) => Promise<boolean>, interval: number, failed: string) {
    let service: Service;
    const report = (err: unknown) => service.logger.warn({ err }, failed);
    super(() => task(service.broker), interval, report);
    const created = function (this: Service) {
      service = this;
    };
    this.mixin = { created, ...working(() => [this]) };
  }
}

/**
 * Carries out a task for one row after the other. A row whose task fails stops no other, and its failure is thrown at the
 * end; what the next row would fail of too, a store or a service that is not there, is thrown at once.
 *
 * @param failed is told of a row whose task failed by itself
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

/**
 * Carries out a task for one tenant's rows after the other's. Those of a tenant whose task fails are passed over until
 * all others' are done: however many they are, they hold up nobody. Its failure is thrown at the end, as in `eachInTurn`.
 *
 * @param find the next of the rows, but for those of some tenants: less than `batch` are the last
 * @returns whether there may be more
 */
export async function tenantsInTurn<Row extends OfTenant>(
  find: (others: { tenant_id?: { $nin: string[] } }) => Promise<Row[]>,
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
    // As long as none fails whoever calls may stop in between.
    if (failed.length === 0) return more;
  }
  throw failures[0];
}
