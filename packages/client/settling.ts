import { isApiError } from "./errors.ts";
import type { Api, DeliveriesNackParams } from "./generated/types.ts";
import { BATCH } from "./leases.ts";

/** Retries through any outage: a lost acknowledgement would have its event handled twice. */
const RETRIES = 1000;

class Batch {
  readonly ids: string[] = [];
  readonly sent: Promise<void>;
  resolve!: () => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.sent = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

/** Acknowledges deliveries: those that complete while a request is pending go together in the next. */
export class Settling {
  readonly #api: Api;
  readonly #signal: AbortSignal;
  readonly #waiting: Batch[] = [];
  #isSending = false;
  #isHeld = false;

  /** @param signal gives up unsettled deliveries */
  constructor(api: Api, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  /** Resolves when the service has recorded it. @param log is sent at once @throws ApiError, or the signal's reason */
  acknowledge(id: string, log?: string): Promise<void> {
    if (log !== undefined)
      return this.#logging(log, (logged) =>
        this.#api.deliveries.ack({ delivery_ids: [id], ...logged }, this.#options),
      );
    let batch = this.#waiting.at(-1);
    if (!batch || batch.ids.length >= BATCH) {
      batch = new Batch();
      this.#waiting.push(batch);
    }
    batch.ids.push(id);
    void this.#send();
    return batch.sent;
  }

  /** Holds acknowledgements back until `along`, which follows the first of them, or until `resume`. */
  hold(): void {
    this.#isHeld = true;
  }

  resume(): void {
    this.#isHeld = false;
    void this.#send();
  }

  /** The number of acknowledgements that `along` would take. */
  get ahead(): number {
    return this.#waiting[0]?.ids.length ?? 0;
  }

  /** Lets another request acknowledge. If it fails, they are sent by a separate one. */
  async along<T>(request: (delivery_ids: string[]) => Promise<T>): Promise<T> {
    const batch = this.#waiting.shift();
    this.resume();
    try {
      const answer = await request(batch?.ids ?? []);
      batch?.resolve();
      return answer;
    } catch (error) {
      if (batch) this.#waiting.unshift(batch);
      void this.#send();
      throw error;
    }
  }

  /** @param failed the rest of the request: reason, delay, and the lease, as another may hold the delivery by now */
  async giveBack(id: string, failed: Omit<DeliveriesNackParams, "delivery_ids">): Promise<void> {
    const { log, ...rest } = failed;
    await this.#logging(log, (logged) =>
      this.#api.deliveries.nack({ delivery_ids: [id], ...rest, ...logged }, this.#options),
    );
  }

  get #options() {
    return { signal: this.#signal, retries: RETRIES };
  }

  /** Settles with a log; without it at a service of a version that takes none. */
  async #logging(log: string | undefined, settle: (logged: { log?: string }) => Promise<unknown>) {
    try {
      await settle(log === undefined ? {} : { log });
    } catch (error) {
      if (!isApiError(error) || error.details.field !== "log") throw error;
      await settle({});
    }
  }

  async #send(): Promise<void> {
    if (this.#isSending || this.#isHeld) return;
    this.#isSending = true;
    // Those of one moment go together.
    await undefined;
    while (!this.#isHeld) {
      const batch = this.#waiting.shift();
      if (!batch) break;
      const ids = { delivery_ids: batch.ids };
      await this.#api.deliveries.ack(ids, this.#options).then(batch.resolve, batch.reject);
    }
    this.#isSending = false;
  }
}
