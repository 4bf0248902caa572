import type { Api, DeliveriesNackParams } from "./generated/types.ts";
import { BATCH } from "./leases.ts";

/** Retries through any outage: a lost acknowledgement would have its event handled twice. */
const RETRIES = 1000;

/** Acknowledges deliveries: those that complete while a request is pending go together in the next. */
export class Settling {
  readonly #api: Api;
  readonly #signal: AbortSignal;
  #next: { ids: string[]; sent: Promise<void> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param signal gives up unsettled deliveries */
  constructor(api: Api, signal: AbortSignal) {
    this.#api = api;
    this.#signal = signal;
  }

  /** Resolves when the service has recorded it. @throws ApiError, or the signal's reason */
  acknowledge(id: string): Promise<void> {
    if (!this.#next || this.#next.ids.length >= BATCH) this.#next = this.#batch();
    this.#next.ids.push(id);
    return this.#next.sent;
  }

  /** @param failed the rest of the request: reason, delay, and the lease, as another may hold the delivery by now */
  async giveBack(id: string, failed: Omit<DeliveriesNackParams, "delivery_ids">): Promise<void> {
    const options = { signal: this.#signal, retries: RETRIES };
    await this.#api.deliveries.nack({ delivery_ids: [id], ...failed }, options);
  }

  #batch(): { ids: string[]; sent: Promise<void> } {
    const ids: string[] = [];
    const before = this.#last;
    const batch = { ids, sent: this.#send(ids, before) };
    this.#last = batch.sent.catch(() => {});
    return batch;
  }

  async #send(ids: string[], before: Promise<unknown>): Promise<void> {
    await before;
    if (this.#next?.ids === ids) this.#next = undefined;
    await this.#api.deliveries.ack({ delivery_ids: ids }, { signal: this.#signal, retries: RETRIES });
  }
}
