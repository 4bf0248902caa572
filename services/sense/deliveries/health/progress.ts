import type { TenantCollection } from "../../../../storage/collection.ts";
import type { ProgressDoc } from "./progress.model.ts";

interface Noted {
  tenant_id: string;
  acknowledged_at?: Date;
  failure?: string;
}

interface OfAgent {
  tenant_id: string;
  agent_id: string;
}

/** In characters. */
const MOST_REASON = 500;

/**
 * When agents last acknowledged and last failed. Noted in memory and written in batches: one write per agent and period,
 * however many deliveries. A crash loses what the last seconds would have added; nothing is decided by it.
 */
export class Progress {
  readonly #rows: TenantCollection<ProgressDoc>;
  #noted = new Map<string, Noted>();

  constructor(rows: TenantCollection<ProgressDoc>) {
    this.#rows = rows;
  }

  acknowledged({ tenant_id, agent_id }: OfAgent, at: Date): void {
    this.#noted.set(agent_id, { ...this.#noted.get(agent_id), tenant_id, acknowledged_at: at });
  }

  failed({ tenant_id, agent_id }: OfAgent, at: Date, reason: string): void {
    const failure = `${at.toISOString()} ${reason.slice(0, MOST_REASON)}`;
    this.#noted.set(agent_id, { ...this.#noted.get(agent_id), tenant_id, failure });
  }

  /** Writes what was noted. */
  async flush(): Promise<boolean> {
    const noted = [...this.#noted];
    this.#noted = new Map();
    await this.#rows.upsert(
      noted.map(([_id, { tenant_id, ...$max }]) => ({ filter: { _id, tenant_id }, update: { $max } })),
    );
    return false;
  }

  async of(tenant_id: string, agent_ids: string[]): Promise<Map<string, ProgressDoc>> {
    const rows = await this.#rows.find(tenant_id, { _id: { $in: agent_ids } });
    return new Map(rows.map((row) => [row._id, row]));
  }
}

/** Returns the last failure of a row; null if there was none. */
export function failureOf({ failure }: Pick<ProgressDoc, "failure">): { at: string; reason: string } | null {
  if (failure === undefined) return null;
  const end = failure.indexOf(" ");
  return { at: failure.slice(0, end), reason: failure.slice(end + 1) };
}
