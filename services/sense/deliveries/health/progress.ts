import type { OfAgent } from "../../../../lib/access/caller.ts";
import { LruMap } from "../../../../lib/lru-map.ts";
import { DAY_MS } from "../../../../lib/time.ts";
import type { TenantCollection } from "../../../../storage/collection.ts";
import type { Absence, ProgressDoc } from "./progress.model.ts";

interface Noted {
  tenant_id: string;
  acknowledged_at?: Date;
  failure?: string;
  asked_at?: Date;
  /** When it asked again, and before: 0 if this node does not know. In ms. */
  returned?: { at: number; from: number }[];
}

/** In characters. */
const MOST_REASON = 500;
const MOST_SEEN = 50_000;

/**
 * When agents last acknowledged and last failed, and for how long they were away. Noted in memory and written in batches:
 * one write per agent and period, however many deliveries. A crash loses what the last seconds would have added; nothing
 * but the state that people see is decided by it.
 */
export class Progress {
  readonly #rows: TenantCollection<ProgressDoc>;
  readonly #awayMs: number;
  #noted = new Map<string, Noted>();
  /** When agents last asked this node, and when that was noted. */
  readonly #asked = new LruMap<string, { at: number; noted: number }>(MOST_SEEN);

  /** @param awayMs how long an agent that does not ask counts as present */
  constructor(rows: TenantCollection<ProgressDoc>, awayMs: number) {
    this.#rows = rows;
    this.#awayMs = awayMs;
  }

  /** Notes that an agent asks for deliveries: one write in `awayMs`, however often it does. */
  asked({ tenant_id, agent_id }: OfAgent, now: number): void {
    const last = this.#asked.get(agent_id);
    if (last && now - last.noted < this.#awayMs) {
      last.at = now;
      return;
    }
    this.#asked.set(agent_id, { at: now, noted: now });
    const noted = this.#noted.get(agent_id);
    const returned = [...(noted?.returned ?? [])];
    if (!last || now - last.at > this.#awayMs) returned.push({ at: now, from: last?.at ?? 0 });
    this.#noted.set(agent_id, { ...noted, tenant_id, asked_at: new Date(now), returned });
  }

  acknowledged({ tenant_id, agent_id }: OfAgent, at: Date): void {
    this.#noted.set(agent_id, { ...this.#noted.get(agent_id), tenant_id, acknowledged_at: at });
  }

  failed({ tenant_id, agent_id }: OfAgent, at: Date, reason: string): void {
    const failure = `${at.toISOString()} ${reason.slice(0, MOST_REASON)}`;
    this.#noted.set(agent_id, { ...this.#noted.get(agent_id), tenant_id, failure });
  }

  async flush(): Promise<boolean> {
    const noted = [...this.#noted];
    this.#noted = new Map();
    const absences = await this.#absences(noted);
    await this.#rows.upsert(
      noted.map(([_id, { tenant_id, returned: _, ...$max }]) => {
        const longer = absences.get(_id);
        return {
          filter: { _id, tenant_id },
          update: longer ? { $max, $set: { absences: longer } } : { $max },
        };
      }),
    );
    return false;
  }

  /** Returns the absences of the agents that were away until now, by agent. Another node may have seen them since. */
  async #absences(noted: [string, Noted][]): Promise<Map<string, Absence[]>> {
    const back = noted.filter(([, { returned = [] }]) => returned.length > 0);
    const absences = new Map<string, Absence[]>();
    for (const [tenant_id, own] of Map.groupBy(back, ([, each]) => each.tenant_id)) {
      const agent_ids = own.map(([id]) => id);
      const rows = await this.of(tenant_id, agent_ids);
      for (const [id, { returned = [] }] of own) {
        const row = rows.get(id);
        for (const { at, from } of returned) {
          const since = Math.max(from, row?.asked_at?.getTime() ?? 0);
          const known = absences.get(id) ?? row?.absences ?? [];
          if (since > 0 && at - since > this.#awayMs) absences.set(id, addAbsence(known, at - since, at));
        }
      }
    }
    return absences;
  }

  async of(tenant_id: string, agent_ids: string[]): Promise<Map<string, ProgressDoc>> {
    const rows = await this.#rows.find(tenant_id, { _id: { $in: agent_ids } });
    return new Map(rows.map((row) => [row._id, row]));
  }
}

export function failureOf({ failure }: Pick<ProgressDoc, "failure">): { at: string; reason: string } | null {
  if (failure === undefined) return null;
  const end = failure.indexOf(" ");
  return { at: failure.slice(0, end), reason: failure.slice(end + 1) };
}

const DAYS = 14;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns the absences with one that ends now: one for each day, for two weeks. */
export function addAbsence(known: readonly Absence[], ms: number, now: number): Absence[] {
  const day = dayOf(now);
  const longest = Math.max(ms, ...known.filter((each) => each.day === day).map((each) => each.ms));
  const others = recent(known, now).filter((each) => each.day !== day);
  return [...others, { day, ms: longest }];
}

/** Returns for how many ms an agent is usually away: its second longest absence in 14 days, as one outage is no habit. */
export function usualAbsence(known: readonly Absence[], now: number): number {
  const [, second] = recent(known, now)
    .map(({ ms }) => ms)
    .sort((a, b) => b - a);
  return second ?? 0;
}

const recent = (known: readonly Absence[], now: number) =>
  known.filter(({ day }) => day >= dayOf(now - DAYS * DAY_MS));
