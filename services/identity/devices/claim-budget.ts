import { rateLimited } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { ClaimBudgetDoc } from "./devices.model.ts";

const WINDOW_SECONDS = 3600;
// An address belongs to no tenant.
const NOBODY = "installation";

/**
 * Counts claims of codes per address in the store: across nodes and restarts, which do not stop an attacker's guesses
 * (spec: Device claim rate).
 */
export class ClaimBudget {
  readonly #rows: TenantCollection<ClaimBudgetDoc>;
  readonly #most: number;

  /** @param most Tries per hour and address. */
  constructor(rows: TenantCollection<ClaimBudgetDoc>, most: number) {
    this.#rows = rows;
    this.#most = most;
  }

  /** Takes one try. @throws Fault rate_limited when none is left. */
  async take(address: string, now: number): Promise<void> {
    const standing = (await this.#count(address, now)) ?? (await this.#begin(address, now));
    if (standing.attempts <= this.#most) return;
    const waitMs = standing.ends_at.getTime() - now;
    throw rateLimited(
      "Too many codes were tried, or clients registered, from this address. Retry",
      this.#most,
      WINDOW_SECONDS,
      waitMs,
    );
  }

  async removeOld(before: Date): Promise<void> {
    await this.#rows.system.deleteMany({ ends_at: { $lt: before } });
  }

  #count(_id: string, now: number): Promise<ClaimBudgetDoc | null> {
    return this.#rows.update(NOBODY, { _id, ends_at: { $gt: new Date(now) } }, { $inc: { attempts: 1 } });
  }

  /** Begins a new hour. Of two concurrent ones one inserts, and the other then counts. */
  async #begin(_id: string, now: number): Promise<ClaimBudgetDoc> {
    await this.#rows.delete(NOBODY, { _id, ends_at: { $lte: new Date(now) } });
    const ends_at = new Date(now + WINDOW_SECONDS * 1000);
    await this.#rows.insertOnce({ _id, tenant_id: NOBODY, attempts: 0, ends_at });
    return (await this.#count(_id, now)) ?? { _id, tenant_id: NOBODY, attempts: 1, ends_at };
  }
}
