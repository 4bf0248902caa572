import { rateLimited } from "../lib/contract/faults.ts";
import type { TenantCollection } from "./collection.ts";
import { type DocumentOf, t, tenantSchema } from "./model.ts";

const WINDOW_SECONDS = 3600;

/** Amount a key has taken within an hour of its first. */
export interface HourlyBudgetDoc extends DocumentOf<ReturnType<typeof hourlyBudgets>> {}

export const hourlyBudgets = () => tenantSchema({ taken: t.number(), ends_at: t.date() });

/** Counts per hour and key in the store: across nodes and restarts. */
export class HourlyBudget {
  readonly #rows: TenantCollection<HourlyBudgetDoc>;
  readonly #most: number;
  readonly #refusal: string;

  /** @param refusal begins the message of the fault; `#` is the limit */
  constructor(rows: TenantCollection<HourlyBudgetDoc>, most: number, refusal: string) {
    this.#rows = rows;
    this.#most = most;
    this.#refusal = refusal.replace("#", String(most));
  }

  /** Takes one. @throws Fault rate_limited if none is left */
  async take(tenant_id: string, _id: string, now: number): Promise<void> {
    const key = { tenant_id, _id };
    const { taken, ends_at } = (await this.#count(key, now)) ?? (await this.#begin(key, now));
    if (taken <= this.#most) return;
    throw rateLimited(`${this.#refusal} Retry`, this.#most, WINDOW_SECONDS, ends_at.getTime() - now);
  }

  #count({ tenant_id, _id }: Key, now: number): Promise<HourlyBudgetDoc | null> {
    return this.#rows.update(tenant_id, { _id, ends_at: { $gt: new Date(now) } }, { $inc: { taken: 1 } });
  }

  /** Begins a new hour. Of two concurrent ones one inserts, and the other then counts. */
  async #begin(key: Key, now: number): Promise<HourlyBudgetDoc> {
    await this.#rows.delete(key.tenant_id, { _id: key._id, ends_at: { $lte: new Date(now) } });
    const ends_at = new Date(now + WINDOW_SECONDS * 1000);
    await this.#rows.insertOnce({ ...key, taken: 0, ends_at });
    return (await this.#count(key, now)) ?? { ...key, taken: 1, ends_at };
  }
}

type Key = Pick<HourlyBudgetDoc, "tenant_id" | "_id">;
