import { setTimeout } from "node:timers/promises";
import type { BrokerMessage, Connector } from "../../../connectors/connector.ts";
import { upToSize } from "../../../lib/broker/between-nodes.ts";
import { backOff } from "../../../lib/queue/backoff.ts";
import { redact } from "../../../lib/text/redact.ts";
import type { ConnectorState } from "./connectors.contract.ts";
import type { Counts, Verdict } from "./connectors.model.ts";

interface ConsumerDeps {
  /** Creates a connection, to read a stream `after` an offset, without opening it. @throws Error if it can never open */
  connect(after: number | null): Connector;
  /** Makes messages durable: returns one verdict for each, in order. A rejection is `again` for all of them. */
  take(messages: BrokerMessage[]): Promise<Verdict[]>;
  changed(): void;
  /** Called with a new reason for trouble, once for each row of equal reasons, and with null when it is over. */
  trouble(reason: string | null): void;
}

/** Seconds between attempts double up to 2 ** 4 = 16. */
const MOST_DOUBLINGS = 5;
const BATCH = 100;
/** Calls between nodes carry at most about a megabyte. */
const BATCH_BYTES = 700 * 1024;
/** Time to finish received messages when it is stopped; the broker redelivers the rest. */
const DRAIN_MS = 2000;

/** Runs one connector: connects, receives, acknowledges durable messages, and reconnects. */
export class Consumer {
  state: ConnectorState = "connecting";
  last_error: string | null = null;
  last_error_at: Date | null = null;
  /** Offset of the last durable message of a stream: all before it are durable too. */
  offset: number | null;
  readonly #deps: ConsumerDeps;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  #counts = nothing();
  #trouble: string | null = null;
  #connector: Connector | undefined;
  /** Received messages of the current connection: each connection has its own array. */
  #waiting: BrokerMessage[] = [];
  #working: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: ConsumerDeps, now: () => number, offset: number | null = null) {
    this.#deps = deps;
    this.#now = now;
    this.offset = offset;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  countsSince(): Counts {
    const counts = this.#counts;
    this.#counts = nothing();
    return counts;
  }

  /** Adds back counts that could not be stored. */
  count(counts: Counts): void {
    for (const name of Object.keys(counts) as (keyof Counts)[]) this.#counts[name] += counts[name];
  }

  async lag(): Promise<number | null> {
    return (await this.#connector?.depth().catch(() => null)) ?? null;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
    for (let attempts = 0; !signal.aborted; ) {
      this.#say("connecting");
      const connector = this.#connect();
      if (!connector) return;
      try {
        const why = await this.#consume(connector, stopped, () => {
          attempts = 0;
        });
        if (why === null) return;
        this.#fail("retrying", why);
      } catch (err) {
        this.#fail("retrying", (err as Error).message);
      }
      attempts++;
      await this.#pause(attempts);
    }
  }

  #connect(): Connector | null {
    try {
      return this.#deps.connect(this.offset);
    } catch (err) {
      this.#fail("failed", (err as Error).message);
      return null;
    }
  }

  /** Resolves to the reason for a disconnection, or to null when it was stopped. */
  async #consume(connector: Connector, stopped: Promise<null>, opened: () => void): Promise<string | null> {
    this.#waiting = [];
    const opening = connector.open((message) => this.#receive(connector, message));
    // Do not wait for a broker that does not answer.
    if ((await Promise.race([opening.then(() => true), stopped])) === null) {
      opening.catch(() => {});
      await connector.close();
      return null;
    }
    opened();
    this.#connector = connector;
    this.#say("consuming");
    this.#work();
    const why = await Promise.race([connector.ended, stopped]);
    if (why === null) await this.#drain();
    this.#connector = undefined;
    // The broker redelivers them.
    this.#waiting = [];
    await connector.close();
    return why;
  }

  #receive(connector: Connector, message: BrokerMessage): void {
    // While stopping, messages return to the broker when the connection closes.
    if (this.#stopping.signal.aborted) return;
    this.#counts.received++;
    this.#waiting.push(message);
    // The first messages wait until the connection counts as open.
    if (this.#connector === connector) this.#work();
  }

  #work(): void {
    this.#working ??= this.#takeAll()
      // Only programming errors of this loop reach this: the messages are not acknowledged.
      .catch((err) => this.#fail("retrying", (err as Error).message))
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #takeAll(): Promise<void> {
    // Batch messages that arrive together.
    await new Promise((next) => setImmediate(next));
    for (let failures = 0; this.#waiting.length; ) {
      const waiting = this.#waiting;
      const again = await this.#take(this.#nextBatch());
      if (again.length === 0) {
        failures = 0;
        if (this.state === "retrying" && this.#connector && waiting === this.#waiting) this.#say("consuming");
        continue;
      }
      // After a disconnection the broker redelivers them itself, and these go with their array.
      waiting.unshift(...again);
      this.#fail("retrying", "received messages cannot be stored right now");
      await this.#pause(++failures);
      if (this.#stopping.signal.aborted) return;
    }
  }

  #nextBatch(): BrokerMessage[] {
    const batch = upToSize(this.#waiting.slice(0, BATCH), ({ body }) => body.length, BATCH_BYTES);
    return this.#waiting.splice(0, batch.length);
  }

  /** Returns the messages that are not durable. */
  async #take(batch: BrokerMessage[]): Promise<BrokerMessage[]> {
    const verdicts = await this.#deps.take(batch).catch(() => batch.map((): Verdict => "again"));
    const again: BrokerMessage[] = [];
    const pending = batch.findIndex((_, i) => verdicts[i] === "again");
    this.offset = (pending < 0 ? batch : batch.slice(0, pending)).at(-1)?.offset ?? this.offset;
    for (const [i, message] of batch.entries()) {
      if (verdicts[i] === "again") {
        again.push(message);
        continue;
      }
      if (verdicts[i] === "accepted") this.#counts.accepted++;
      if (verdicts[i] === "duplicate" || verdicts[i] === "differs") this.#counts.duplicates++;
      if (verdicts[i] === "differs") this.#counts.differing_duplicates++;
      if (verdicts[i] === "mapping_error") this.#counts.mapping_errors++;
      message.acknowledge();
    }
    this.#deps.changed();
    return again;
  }

  async #drain(): Promise<void> {
    const drained = new AbortController();
    await Promise.race([this.#working, sleep(DRAIN_MS, drained.signal)]);
    drained.abort();
  }

  /** Waits before the next attempt, unless it is stopping. */
  #pause(attempts: number): Promise<void> {
    return sleep(backOff(Math.min(attempts, MOST_DOUBLINGS)) * 1000, this.#stopping.signal);
  }

  #say(state: ConnectorState): void {
    this.state = state;
    this.#deps.changed();
    if (state === "consuming") this.#report(null);
  }

  #report(trouble: string | null): void {
    if (trouble !== this.#trouble) this.#deps.trouble(trouble);
    this.#trouble = trouble;
  }

  #fail(state: ConnectorState, error: string): void {
    this.#report(error);
    this.last_error = redact(error);
    this.last_error_at = new Date(this.#now());
    this.#say(state);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal }).catch(() => {});
}

export function nothing(): Counts {
  return { received: 0, accepted: 0, duplicates: 0, differing_duplicates: 0, mapping_errors: 0 };
}
