import type { Collection, SearchIndexDescription } from "mongodb";
import type { EntryDoc } from "./entries.ts";
import { textIndex, vectorIndex } from "./pipelines.ts";

const LOOK_EVERY_MS = 500;
/** The first index of a large collection takes longer; the node then reports it and must be restarted. */
const MOST_WAIT_MS = 120_000;
const ALREADY_EXISTS = 68;

/** The Atlas indexes of the collection, created if missing and then awaited. */
export class AtlasIndexes {
  readonly #entries: Collection<EntryDoc>;
  readonly #ready = new Set<string>();
  readonly #asked = new Map<string, number>();

  constructor(entries: Collection<EntryDoc>) {
    this.#entries = entries;
  }

  /** Resolves when words can be searched. Rejects with a message for the operator. */
  async text(): Promise<void> {
    const wanted = textIndex();
    await this.#make(wanted);
    const until = performance.now() + MOST_WAIT_MS;
    while (!(await this.#isQueryable(wanted))) {
      if (performance.now() > until)
        throw new Error(`SEARCH=atlas: the index ${wanted.name} is still being built. Start again later.`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  /** Whether vectors of these dimensions can be searched; creates a missing index. */
  async hasVectors(dimensions: number): Promise<boolean> {
    const wanted = vectorIndex(dimensions);
    const name = wanted.name as string;
    if (this.#ready.has(name)) return true;
    const now = performance.now();
    if (now - (this.#asked.get(name) ?? Number.NEGATIVE_INFINITY) < LOOK_EVERY_MS) return false;
    this.#asked.set(name, now);
    await this.#make(wanted);
    return this.#isQueryable(wanted);
  }

  async #make(wanted: SearchIndexDescription): Promise<void> {
    try {
      const held = await this.#entries.listSearchIndexes(wanted.name as string).toArray();
      if (held.length === 0) await this.#entries.createSearchIndex(wanted);
    } catch (err) {
      // Another node created it first.
      if ((err as { code?: number }).code === ALREADY_EXISTS) return;
      throw new Error(
        `SEARCH=atlas needs a MongoDB with Atlas Search and the permission to create search indexes: ${(err as Error).message}`,
      );
    }
  }

  async #isQueryable({ name = "" }: SearchIndexDescription): Promise<boolean> {
    const [held] = (await this.#entries.listSearchIndexes(name).toArray()) as { queryable?: boolean }[];
    if (held?.queryable) this.#ready.add(name);
    return held?.queryable === true;
  }
}
