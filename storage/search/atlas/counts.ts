import type { Collection } from "mongodb";
import { LruMap } from "../../../lib/lru-map.ts";
import type { Corpus } from "../features.ts";
import type { LegsQuery } from "../protocol.ts";
import { buildConditions } from "./conditions.ts";
import type { EntryDoc } from "./entries.ts";
import { countPipeline } from "./pipelines.ts";

type Counted = Pick<Corpus, "documents" | "frequencies">;

/** Lifetime of a count, which only weighs terms against each other. */
const KEPT_MS = 60_000;
const MOST_KEPT = 500;

/** Counts the entries that a reader may find, and how many of them contain each term; cached for a minute. */
export class Counts {
  readonly #entries: Collection<EntryDoc>;
  readonly #kept = new LruMap<string, { at: number; counted: Promise<Counted> }>(MOST_KEPT);

  constructor(entries: Collection<EntryDoc>) {
    this.#entries = entries;
  }

  of(query: LegsQuery): Promise<Counted> {
    const { tenant_id, kind, access, where, include_superseded, terms } = query;
    const key = JSON.stringify([tenant_id, kind, access, where, include_superseded, terms]);
    const now = performance.now();
    const kept = this.#kept.get(key);
    if (kept && now - kept.at < KEPT_MS) return kept.counted;
    const counted = this.#count(query);
    counted.catch(() => this.#kept.delete(key));
    this.#kept.set(key, { at: now, counted });
    return counted;
  }

  async #count(query: LegsQuery): Promise<Counted> {
    const rows = (await this.#entries
      .aggregate(countPipeline(buildConditions(query), query.terms))
      .toArray()) as { term: number | null; count: number }[];
    const counts = new Map(rows.map(({ term, count }) => [term, count]));
    return {
      documents: counts.get(null) ?? 0,
      frequencies: query.terms.map((_, i) => counts.get(i) ?? 0),
    };
  }
}
