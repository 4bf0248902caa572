// For programs that are compiled without it: `Symbol.asyncDispose` stands in what they import.
/// <reference lib="esnext.disposable" preserve="true" />

import { isFinal } from "./errors.ts";
import type { CloudEvent, DeliveryEvent } from "./generated/types.ts";
import { type Handler, type ListenOptions, RetryLater } from "./handler.ts";
import { type Arrival, fromPoll, fromStream, type Source } from "./intake.ts";
import { BATCH, Leases } from "./leases.ts";
import { pauseBefore } from "./request.ts";
import { Settling } from "./settling.ts";
import { aborted, pause } from "./support.ts";

const MAX_REASON = 500;
const MAX_STREAM = 1000;
const REOPEN_MS = 100;

/** A delivery from its arrival until it is settled. */
interface Held {
  /** Its handler has ended. */
  handled: boolean;
  /** It came again since. */
  again?: Arrival;
}

/** An agent's deliveries on their way to a handler. It begins as it is made. */
export class Listener {
  /** Resolves once it has stopped. @throws ApiError when the agent is refused for good (401, 403) */
  readonly done: Promise<void>;
  readonly #handler: Handler;
  readonly #source: Source;
  readonly #options: Required<Omit<ListenOptions, "signal">>;
  readonly #leases: Leases;
  readonly #settling: Settling;
  /** What arrived and is not settled, by its id. */
  readonly #held = new Map<string, Held>();
  readonly #waiting: DeliveryEvent[] = [];
  readonly #running = new Set<Promise<void>>();
  #busy = 0;
  /** Aborts when nothing more is to be taken; then when what runs should end; then when all is over. */
  readonly #stopping = new AbortController();
  readonly #overdue = new AbortController();
  readonly #closed = new AbortController();
  #roomMade: () => void = () => {};

  constructor(source: Source, handler: Handler, options: ListenOptions = {}) {
    const { by = "stream", concurrency = 1, onProblem = () => {}, signal } = options;
    const { maxInFlight = by === "stream" ? concurrency * 2 : concurrency } = options;
    this.#options = { by, concurrency, onProblem, maxInFlight: Math.min(maxInFlight, MAX_STREAM) };
    this.#source = source;
    this.#handler = handler;
    this.#leases = new Leases(source.api, onProblem);
    this.#settling = new Settling(source.api, this.#closed.signal);
    if (signal?.aborted) this.#stopping.abort();
    // The caller's signal may live longer: what has ended is not held by it.
    signal?.addEventListener("abort", () => void this.stop(), { once: true, signal: this.#closed.signal });
    this.done = this.#listen();
    // Who does not wait for the end is told by `onProblem`.
    this.done.catch(() => {});
  }

  /**
   * Takes nothing more, lets what runs end and acknowledges it.
   *
   * @param graceMs after which handlers are told by their signal, and waited for no longer
   */
  async stop(graceMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#stopping.abort();
    const timer = Number.isFinite(graceMs) ? setTimeout(() => this.#overdue.abort(), graceMs) : undefined;
    await this.done.catch(() => {});
    clearTimeout(timer);
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
      this.#roomMade();
      await Promise.race([Promise.all(this.#running), aborted(this.#overdue.signal)]);
      this.#closed.abort();
      this.#leases.clear();
      await taking.catch(() => {});
    }
  }

  /** The stream stays open while what runs ends: closing it would give that to somebody else. */
  #takeFromStream(): Promise<void> {
    return this.#persist(this.#closed.signal, async (worked) => {
      for await (const arrivals of fromStream(this.#source, this.#options.maxInFlight, this.#closed.signal)) {
        worked();
        this.#take(arrivals);
      }
    });
  }

  #takeFromPolls(): Promise<void> {
    return this.#persist(this.#stopping.signal, async (worked) => {
      while (!this.#stopping.signal.aborted) {
        const room = this.#options.maxInFlight - this.#held.size;
        if (room > 0) this.#take(await fromPoll(this.#source, Math.min(room, BATCH), this.#stopping.signal));
        else await this.#room();
        worked();
      }
    });
  }

  /** Does it again and again, after a pause where it fails. @throws ApiError when trying again is of no use */
  async #persist(until: AbortSignal, work: (worked: () => void) => Promise<void>): Promise<void> {
    for (let failures = 0; !until.aborted; ) {
      try {
        await work(() => {
          failures = 0;
        });
        // The service ended it, to be asked again.
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
      // What is handed back may come again before that is answered: it is taken when this one is settled.
      if (held?.handled) held.again = arrival;
      this.#leases.hold(delivery.id, leaseMs);
      // It may come again while it is held, when its lease ended or the connection broke.
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
    const held = this.#held.get(delivery.id);
    const failure = await this.#handle(delivery);
    if (held) held.handled = true;
    this.#busy--;
    // The next one need not wait until this one is settled.
    this.#start();
    try {
      if (failure) await this.#giveBack(delivery, failure.error);
      else await this.#settling.acknowledge(delivery.id);
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#options.onProblem(error);
    }
    this.#held.delete(delivery.id);
    this.#leases.drop(delivery.id);
    if (failure && held?.again) this.#take([held.again]);
    this.#roomMade();
  }

  /** What the handler threw, if it did. */
  async #handle(delivery: DeliveryEvent): Promise<{ error: unknown } | undefined> {
    try {
      const context = { delivery, signal: this.#overdue.signal };
      await this.#handler(delivery.payload as unknown as CloudEvent, context);
      return undefined;
    } catch (error) {
      this.#options.onProblem(error);
      return { error };
    }
  }

  #giveBack({ id }: DeliveryEvent, error: unknown): Promise<void> {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
    return this.#settling.giveBack(id, reason, error instanceof RetryLater ? error.delaySeconds : undefined);
  }

  /** Resolves when something that was held is settled, or when it is to stop. */
  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#roomMade = resolve;
    });
  }
}
