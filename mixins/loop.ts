import type { Service, ServiceBroker, ServiceSchema } from "moleculer";
import { apart } from "../lib/queue/work.ts";
import { Unworked } from "./due.ts";

/** Called when a loop's task fails. */
type Report = (err: unknown) => void;

/** Longest delay before a failed task is retried. */
const RETRY_MS = 1000;

/**
 * Whether a run of a loop has more to do and is repeated at once; or after how many milliseconds there will be more, if
 * that is before the interval ends.
 */
export type More = boolean | number;

/** Runs a task at start, at each nudge, and at an interval as the backstop for lost nudges: one run at a time. */
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
    this.#running ??= apart(() => this.#run());
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
        if (err instanceof Unworked && err.more) this.#again = true;
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

/** A mixin that starts workers when every service of the node has started, as they call each other, and stops them. */
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
