import { rateLimited } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { MailBudgetDoc } from "./mails.model.ts";

const WINDOW_SECONDS = 3600;

/** Counts e-mails per tenant in the store: across nodes and restarts (spec: email output). */
export class MailBudget {
  readonly #rows: TenantCollection<MailBudgetDoc>;
  readonly #most: number;

  /** @param most e-mails per hour and tenant */
  constructor(rows: TenantCollection<MailBudgetDoc>, most: number) {
    this.#rows = rows;
    this.#most = most;
  }

  /** Takes one e-mail. @throws Fault rate_limited if none is left */
  async take(tenant_id: string, now: number): Promise<void> {
    const { sent, ends_at } = (await this.#count(tenant_id, now)) ?? (await this.#begin(tenant_id, now));
    if (sent <= this.#most) return;
    const message = `The organisation has reached its limit of ${this.#most} e-mails per hour. Retry`;
    throw rateLimited(message, this.#most, WINDOW_SECONDS, ends_at.getTime() - now);
  }

  #count(tenant_id: string, now: number): Promise<MailBudgetDoc | null> {
    const filter = { _id: tenant_id, ends_at: { $gt: new Date(now) } };
    return this.#rows.update(tenant_id, filter, { $inc: { sent: 1 } });
  }

  /** Begins a new hour. Of two concurrent ones one inserts, and the other then counts. */
  async #begin(tenant_id: string, now: number): Promise<MailBudgetDoc> {
    await this.#rows.delete(tenant_id, { _id: tenant_id, ends_at: { $lte: new Date(now) } });
    const ends_at = new Date(now + WINDOW_SECONDS * 1000);
    await this.#rows.insertOnce({ _id: tenant_id, tenant_id, sent: 0, ends_at });
    return (await this.#count(tenant_id, now)) ?? { _id: tenant_id, tenant_id, sent: 1, ends_at };
  }
}
