// For programs compiled without it: their imports use `Symbol.asyncDispose`.
/// <reference lib="esnext.disposable" preserve="true" />

import { isFinal } from "./errors.ts";
import { redact } from "./generated/redact.ts";
import type { CloudEvent, DeliveryEvent } from "./generated/types.ts";
import {
  GiveUp,
  type Handler,
  Interrupted,
  type ListenOptions,
  RejectedElsewhere,
  RetryLater,
  Untried,
} from "./handler.ts";
import { type Arrival, fromNext, fromStream, type Source } from "./intake.ts";
import { BATCH, Leases } from "./leases.ts";
import { pauseBefore } from "./request.ts";
import { Settling } from "./settling.ts";
import { aborted, after, escapeControls, pause } from "./support.ts";

const MAX_REASON = 500;
const MAX_LOG = 16_384;
/** Length of a text that is searched for secrets, before it is cut. */
const MAX_READ = 64_000;
const MAX_STREAM = 1000;
const REOPEN_MS = 100;

/** Errors quote others. */
const warn = (problem: unknown) =>
  console.warn("sensorium:", escapeControls(String((problem as Error)?.stack ?? problem)));

/** A delivery from its arrival until it is settled. */
interface Held {
  /** Its handler has ended. */
  handled: boolean;
  /** It was redelivered since. */
  again?: Arrival;
  log?: string;
}

/** Passes an agent's deliveries to a handler, from its creation on. */
export class Listener {
  /** Resolves when it has stopped. @throws ApiError if the agent is permanently refused (401, 403) */
  readonly done: Promise<void>;
  readonly #handler: Handler;
  readonly #source: Source;
  readonly #options: Required<Omit<ListenOptions, "signal">>;
  readonly #leases: Leases;
  readonly #settling: Settling;
  /** Unsettled deliveries, by id. */
  readonly #held = new Map<string, Held>();
  readonly #waiting: DeliveryEvent[] = [];
  readonly #running = new Set<Promise<void>>();
  #busy = 0;
  /** Three phases of stopping: accept nothing more; ask handlers to end; end everything. */
  readonly #stopping = new AbortController();
  readonly #overdue = new AbortController();
  readonly #closed = new AbortController();
  #capacityFreed: () => void = () => {};

  constructor(source: Source, handler: Handler, options: ListenOptions = {}) {
    const { by = "stream", concurrency = 1, onProblem = warn, signal } = options;
    const { maxInFlight = by === "stream" ? concurrency * 2 : concurrency } = options;
    this.#options = { by, concurrency, onProblem, maxInFlight: Math.min(maxInFlight, MAX_STREAM) };
    this.#source = source;
    this.#handler = handler;
    this.#leases = new Leases(source.api, onProblem);
    this.#settling = new Settling(source.api, this.#closed.signal);
    if (signal?.aborted) this.#stopping.abort();
    // The caller's signal may live longer and must not keep an ended listener in memory.
    signal?.addEventListener("abort", () => void this.stop(), { once: true, signal: this.#closed.signal });
    this.done = this.#listen();
    // Callers that do not await `done` are notified through `onProblem`.
    this.done.catch(() => {});
  }

  /**
   * Accepts no more deliveries, waits for running handlers and acknowledges theirs.
   *
   * @param graceMs after which handlers' signals abort, and it no longer waits for them
   */
  async stop(graceMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#stopping.abort();
    const cancel = after(graceMs, () => this.#overdue.abort());
    await this.done.catch(() => {});
    cancel();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #listen(): Promise<void> {
    const taking = this.#options.by === "stream" ? this.#takeFromStream() : this.#takeFromPolls();
    try {
      await Promise.race([taking, aborted(this.#stopping.signal)]);
    } finally {
      this.#stopping.abort();
      this.#capacityFreed();
      await Promise.race([Promise.all(this.#running), aborted(this.#overdue.signal)]);
      this.#closed.abort();
      this.#leases.clear();
      await taking.catch(() => {});
    }
  }

  /** Keeps the stream open while handlers end: closing it would redeliver their events to other listeners. */
  #takeFromStream(): Promise<void> {
    return this.#persist(this.#closed.signal, async (worked) => {
      for await (const arrivals of fromStream(this.#source, this.#options.maxInFlight, this.#closed.signal)) {
        worked();
        this.#take(arrivals);
      }
    });
  }

  #takeFromPolls(): Promise<void> {
    const { signal } = this.#stopping;
    const polling = this.#persist(signal, async (worked) => {
      while (!signal.aborted) {
        // Acknowledged along with the request, it is held no more.
        const capacity = this.#options.maxInFlight - this.#held.size + this.#settling.ahead;
        if (capacity > 0) {
          const limit = Math.min(capacity, BATCH);
          this.#take(await this.#settling.along((ids) => fromNext(this.#source, limit, ids, signal)));
        } else await this.#waitForCapacity();
        worked();
      }
    });
    return polling.finally(() => this.#settling.resume());
  }

  /** Repeats the work, with a pause after a failure. @throws ApiError if a retry is useless */
  async #persist(until: AbortSignal, work: (worked: () => void) => Promise<void>): Promise<void> {
    for (let failures = 0; !until.aborted; ) {
      try {
        await work(() => {
          failures = 0;
        });
        // The service closed it, to be reopened.
        await pause(REOPEN_MS, until).catch(() => {});
      } catch (error) {
        if (until.aborted) return;
        this.#options.onProblem(error);
        if (isFinal(error)) throw error;
        failures++;
        await pause(pauseBefore(failures, error), until).catch(() => {});
      }
    }
  }

  #take(arrivals: Arrival[]): void {
    for (const arrival of arrivals) {
      const { delivery, leaseMs } = arrival;
      const held = this.#held.get(delivery.id);
      // A rejected delivery may be redelivered before the rejection is answered: take it once this one is settled.
      if (held?.handled) held.again = arrival;
      this.#leases.hold(delivery, leaseMs);
      // A held delivery is redelivered when its lease ends or the connection breaks.
      if (held) continue;
      this.#held.set(delivery.id, { handled: false });
      this.#waiting.push(delivery);
    }
    this.#start();
  }

  #start(): void {
    while (this.#busy < this.#options.concurrency && !this.#stopping.signal.aborted) {
      const delivery = this.#waiting.shift();
      if (!delivery) return;
      const run: Promise<void> = this.#run(delivery).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async #run(delivery: DeliveryEvent): Promise<void> {
    this.#busy++;
    const held = this.#held.get(delivery.id) ?? { handled: false };
    const failure = await this.#handle(delivery, held);
    held.handled = true;
    this.#busy--;
    // The next one need not wait until this one is settled.
    this.#start();
    if (failure?.error instanceof Interrupted && this.#returnsOnClose()) return;
    try {
      const settled = failure
        ? this.#giveBack(delivery, failure.error, held.log)
        : this.#settling.acknowledge(delivery.id, held.log);
      this.#capacityFreed();
      await settled;
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#options.onProblem(error);
    }
    this.#held.delete(delivery.id);
    this.#leases.drop(delivery.id);
    if (failure && held.again) this.#take([held.again]);
    this.#capacityFreed();
  }

  /** Runs the handler and returns the error it threw, if any. */
  async #handle(delivery: DeliveryEvent, held: Held): Promise<{ error: unknown } | undefined> {
    try {
      const log = (text: string) => {
        held.log = redact(text.slice(-MAX_READ)).slice(-MAX_LOG).toWellFormed();
      };
      const context = { delivery, signal: this.#overdue.signal, log };
      await this.#handler(delivery.payload as unknown as CloudEvent, context);
      return undefined;
    } catch (error) {
      const isProblem = !(error instanceof Interrupted || error instanceof RejectedElsewhere);
      if (isProblem) this.#options.onProblem(error);
      return { error };
    }
  }

  #returnsOnClose = () => this.#options.by === "stream" && this.#stopping.signal.aborted;

  #giveBack({ id }: DeliveryEvent, error: unknown, log: string | undefined): Promise<void> {
    // By now the lease may be of the next attempt.
    if (error instanceof RejectedElsewhere) return Promise.resolve();
    const said = error instanceof Error ? error.message : String(error);
    const reason = redact(said.slice(0, MAX_READ)).slice(0, MAX_REASON);
    const delay_seconds = error instanceof RetryLater ? error.delaySeconds : undefined;
    return this.#settling.giveBack(id, {
      ...{ reason, ...this.#leases.named([id]) },
      ...(delay_seconds !== undefined && { delay_seconds }),
      ...(error instanceof Untried && { attempted: false }),
      ...(error instanceof GiveUp && { dead_letter: true }),
      ...(log !== undefined && { log }),
    });
  }

  /** Resolves when a held delivery is settled or can be by the next request, or on stop. */
  #waitForCapacity(): Promise<void> {
    this.#settling.hold();
    return new Promise((resolve) => {
      this.#capacityFreed = resolve;
    });
  }
}
