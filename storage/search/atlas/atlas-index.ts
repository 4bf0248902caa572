import type { Collection, SearchIndexDescription } from "mongodb";
import { beginningOf } from "../../../lib/text/code-points.ts";
import type { TenantCollection } from "../../collection.ts";
import type { OfKind, SearchEntry, SearchKind } from "../entry.ts";
import { CONTEXT, type Corpus, LEG_SIZE, MOST_DUPLICATES } from "../features.ts";
import type { Model } from "../file.ts";
import type { SearchIndex } from "../local-index.ts";
import {
  type Expected,
  type LegsAnswer,
  type LegsQuery,
  type NearDuplicate,
  NO_TENANT,
  RUN_AT_ONCE,
  type Unembedded,
  type VectorRow,
} from "../protocol.ts";
import { cosine, type FoundRow, integersOf, packVector, rateCandidates } from "./candidates.ts";
import { areHopeless, buildConditions, type Condition, fits } from "./conditions.ts";
import { type EntryDoc, entryId, NEVER, putEntries, REMOVED, type SearchStateDoc } from "./entries.ts";
import {
  countPipeline,
  formsOf,
  nearPipeline,
  textIndex,
  textPipeline,
  vectorIndex,
  vectorPipeline,
  wordsOf,
} from "./pipelines.ts";

/** As many as a small cluster answers concurrently. */
const SEARCHES_AT_ONCE = 16;

interface Parts {
  entries: TenantCollection<EntryDoc>;
  state: TenantCollection<SearchStateDoc>;
}

interface Leg {
  rows: FoundRow[];
  ms: number;
}

/**
 * The shared index of all nodes, in a collection with Atlas Search and Atlas Vector Search. New entries can be found
 * about a second later; removed ones are gone at once. See docs/atlas.md.
 */
export class AtlasIndex implements SearchIndex {
  readonly isShared = true;
  readonly searchesAtOnce = SEARCHES_AT_ONCE;
  readonly #entries: TenantCollection<EntryDoc>;
  readonly #state: TenantCollection<SearchStateDoc>;
  readonly #indexes: AtlasIndexes;
  #model: Model | null = null;

  constructor({ entries, state }: Parts) {
    this.#entries = entries;
    this.#state = state;
    this.#indexes = new AtlasIndexes(entries.system);
  }

  /** Atlas manages its own memory. */
  async warm(): Promise<number> {
    return 0;
  }

  ready(): Promise<void> {
    return this.#indexes.text();
  }

  /** Atlas manages its own files. */
  async scrub(): Promise<null> {
    return null;
  }

  put(tenant_id: string, entries: readonly SearchEntry[], runTask = RUN_AT_ONCE): Promise<void> {
    return runTask(entries.length, () => putEntries(this.#entries, tenant_id, entries));
  }

  async drop(tenant_id: string, kind: SearchKind, ids: string[]) {
    const rows = { _id: { $in: ids.map((id) => entryId(kind, id)) } };
    const vectors = await this.#entries.count(tenant_id, { ...rows, vector: { $exists: true } });
    return { entries: await this.#entries.deleteMany(tenant_id, rows), vectors };
  }

  async dropTenant(tenant_id: string): Promise<void> {
    await this.#entries.deleteMany(tenant_id, {});
  }

  /** No node holds less than all. */
  async release(): Promise<void> {}

  legs(query: LegsQuery, runTask = RUN_AT_ONCE): Promise<LegsAnswer> {
    return runTask(1, () => this.#legs(query));
  }

  async #legs(query: LegsQuery): Promise<LegsAnswer> {
    const conditions = buildConditions(query);
    const { dims = null, name = null } = this.#model ?? {};
    const isMisfit = query.vector !== null && dims !== null && query.vector.length !== dims;
    const isBuilding = query.vector !== null && dims !== null && !(await this.#indexes.hasVectors(dims));
    const vector = isMisfit || isBuilding || dims === null ? null : query.vector;
    const isHopeless = areHopeless(conditions);
    const terms = [...query.terms, ...query.variants.map(({ term }) => term)];
    const [text, near, counted] = await Promise.all([
      isHopeless || query.terms.length === 0 ? NO_LEG : this.#textLeg(conditions, wordsOf(terms), query),
      isHopeless || !vector ? NO_LEG : this.#vectorLeg(conditions, vector, query),
      isHopeless ? { documents: 0, frequencies: query.terms.map(() => 0) } : this.#count(conditions, query),
    ]);
    const missing = isHopeless
      ? []
      : query.terms.filter((_, i) => i < query.words && !counted.frequencies[i]);
    const others = missing.length ? await this.#textLeg(conditions, formsOf(missing), query) : NO_LEG;
    const rows = interleaved([...text.rows, ...others.rows], near.rows);
    const corpus = { ...counted, averageLength: averageLength(rows) };
    const candidates = rateCandidates(rows, { query, vector, model: name, conditions, corpus });
    const expected = query.expect === undefined ? undefined : await this.#expected(query.expect, query);
    const isCandidate = candidates.some(({ id }) => id === query.expect);
    return {
      candidates,
      corpus,
      matched: { text: text.rows.length, vector: near.rows.length },
      isMisfit,
      ...(isBuilding && { isBuilding }),
      brought: { text: text.rows.length, vector: near.rows.length },
      ms: { text: text.ms, vector: near.ms },
      visible: corpus.documents,
      ...(expected && { expected: isCandidate ? "candidate" : expected }),
    };
  }

  async useModel(name: string | null): Promise<Model | null> {
    if (name === null) this.#model = null;
    else if (name !== this.#model?.name || this.#model.dims === null) {
      const known = await this.cursor(`model ${name}`);
      this.#model = { number: 0, name, dims: known === null ? null : Number(known) };
      if (this.#model.dims !== null) await this.#indexes.hasVectors(this.#model.dims);
    }
    return this.#model;
  }

  /** Reads values of an index alone: the cost depends on the tenants, not on the waiting entries. */
  async waiting(): Promise<string[]> {
    if (!this.#model) return [];
    const { system } = this.#entries;
    const done = new Set([this.#model.name, REMOVED]);
    const earlier = (await system.distinct("embedded")).filter((model) => !done.has(model));
    const tenants = await Promise.all(earlier.map((embedded) => system.distinct("tenant_id", { embedded })));
    return [...new Set(tenants.flat())];
  }

  async unembedded(limit: number, skip: number, of: OfKind): Promise<Unembedded[]> {
    if (!this.#model) return [];
    const rows = await this.#entries.system
      .find(
        { embedded: { $nin: [this.#model.name, REMOVED] }, ...of },
        {
          projection: { tenant_id: 1, kind: 1, id: 1, hash: 1, text: 1 },
          sort: { embedded: 1, tenant_id: 1, kind: 1, _id: 1 },
          ...{ skip, limit },
        },
      )
      .toArray();
    return rows.map(({ tenant_id, kind, id, hash, text }) => ({ tenant_id, kind, id, hash, text }));
  }

  async texts(tenant_id: string, kind: SearchKind, ids: string[], characters: number) {
    const _id = { $in: ids.map((id) => entryId(kind, id)) };
    const rows = await this.#entries.find(tenant_id, { _id }, { projection: { id: 1, text: 1 } });
    return Object.fromEntries(rows.map(({ id, text }) => [id, beginningOf(text, characters)]));
  }

  async setVectors(model: string, rows: VectorRow[]): Promise<number> {
    const dims = rows[0]?.vector.length;
    if (this.#model?.name !== model || dims === undefined) return 0;
    if (this.#model.dims === null) {
      await this.setCursor(`model ${model}`, String(dims));
      this.#model.dims = dims;
      await this.#indexes.hasVectors(dims);
    }
    const fitting = rows.filter(({ vector }) => vector.length === this.#model?.dims);
    if (fitting.length === 0) return 0;
    const { matchedCount } = await this.#entries.bulk(
      fitting.map(({ tenant_id, kind, id, hash, vector }) => ({
        updateOne: {
          filter: { _id: entryId(kind, id), tenant_id, hash },
          // Atlas cannot index a vector of zeros.
          update: vector.some((x) => x !== 0)
            ? { $set: { vector: packVector(vector), embedded: model } }
            : { $set: { embedded: model }, $unset: { vector: "" } },
        },
      })),
    );
    return matchedCount;
  }

  async nearDuplicates(tenant_id: string, kind: SearchKind, ids: string[], least: number) {
    const dimensions = this.#model?.dims ?? null;
    if (dimensions === null || !(await this.#indexes.hasVectors(dimensions))) return [];
    const _id = { $in: ids.map((id) => entryId(kind, id)) };
    const rows = await this.#entries.find(tenant_id, { _id }, { projection: { text: 0 } });
    const pairs = await Promise.all(rows.map((row) => this.#near(row, dimensions, least)));
    return pairs.flat();
  }

  async gap(tenant_id: string, kind: SearchKind): Promise<number> {
    if (!this.#model) return 0;
    const embedded = { $nin: [this.#model.name, REMOVED] };
    return this.#entries.count(tenant_id, { embedded, kind });
  }

  async cursor(name: string): Promise<string | null> {
    return (await this.#state.findOne(NO_TENANT, { _id: name }))?.value ?? null;
  }

  async setCursor(name: string, value: string): Promise<boolean> {
    const filter = { _id: name, tenant_id: NO_TENANT };
    await this.#state.upsert([{ filter, update: { $set: { value } } }]);
    return true;
  }

  async close(): Promise<void> {}

  #textLeg(conditions: Condition[], words: object, query: LegsQuery): Promise<Leg> {
    return this.#leg(textPipeline(conditions, words, LEG_SIZE, contextOf(query)));
  }

  #vectorLeg(conditions: Condition[], vector: Float32Array, search: LegsQuery): Promise<Leg> {
    const ofModel: Condition[] = [...conditions, { path: "embedded", in: [this.#model?.name ?? REMOVED] }];
    const query = { vector: packVector(vector), dimensions: vector.length, limit: LEG_SIZE };
    return this.#leg(vectorPipeline(ofModel, query, contextOf(search)));
  }

  async #leg(pipeline: object[]): Promise<Leg> {
    const started = performance.now();
    const rows = (await this.#entries.system.aggregate(pipeline).toArray()) as FoundRow[];
    return { rows, ms: performance.now() - started };
  }

  /** Counts the entries that a reader may find, and how many of them contain each term. */
  async #count(
    conditions: Condition[],
    { terms }: LegsQuery,
  ): Promise<Pick<Corpus, "documents" | "frequencies">> {
    const rows = (await this.#entries.system.aggregate(countPipeline(conditions, terms)).toArray()) as {
      term: number | null;
      count: number;
    }[];
    const counts = new Map(rows.map(({ term, count }) => [term, count]));
    return { documents: counts.get(null) ?? 0, frequencies: terms.map((_, i) => counts.get(i) ?? 0) };
  }

  async #near(row: EntryDoc, dimensions: number, least: number): Promise<NearDuplicate[]> {
    const { tenant_id, kind, agent_id, scope, team_id, type, vector, embedded } = row;
    if (!vector || embedded !== this.#model?.name) return [];
    const alike = { tenant_id, kind, agent_id, scope, team_id, type, embedded };
    const conditions = Object.entries({ ...alike, superseded: false }).map(
      ([path, value]) => ({ path, in: [value] }) as Condition,
    );
    const query = { vector, dimensions, limit: MOST_DUPLICATES + 1 };
    const rows = (await this.#entries.system.aggregate(nearPipeline(conditions, query)).toArray()) as Pick<
      EntryDoc,
      "id" | "vector"
    >[];
    const own = integersOf(vector);
    return rows
      .map((other) => ({
        ...{ tenant_id, kind, a: row.id, b: other.id },
        similarity: other.vector ? cosine(own, integersOf(other.vector)) : 0,
      }))
      .filter(({ a, b, similarity }) => a !== b && similarity >= least)
      .slice(0, MOST_DUPLICATES);
  }

  /** Returns why an entry is no candidate, if so. An unreadable entry is as unknown as a missing one. */
  async #expected(id: string, query: LegsQuery): Promise<Expected> {
    const row = await this.#entries.findOne(query.tenant_id, { _id: entryId(query.kind, id) });
    const anywhere = { ...query, where: {}, include_superseded: true, now: Number.NEGATIVE_INFINITY };
    if (!row || !fits(row, buildConditions(anywhere))) return "unknown";
    if ((row.expires_at ?? NEVER) <= query.now) return "expired";
    if (!fits(row, buildConditions(query)))
      return row.superseded && !query.include_superseded ? "superseded" : "filtered";
    const words = new Set(`${row.title_terms} ${row.text_terms}`.split(" "));
    return query.terms.some((term) => words.has(term)) || row.vector ? "outranked" : "unmatched";
  }
}

const NO_LEG: Leg = { rows: [], ms: 0 };

function contextOf({ now, include_superseded }: LegsQuery) {
  return { now, include_superseded, neighbours: CONTEXT };
}

/** Alternates rows of both legs without duplicates, so that the best of both come first. */
function interleaved(text: readonly FoundRow[], near: readonly FoundRow[]): FoundRow[] {
  const rows = new Map<string, FoundRow>();
  for (let i = 0; i < Math.max(text.length, near.length); i++)
    for (const row of [text[i], near[i]]) if (row && !rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()];
}

/** Averages the rows found: there is no cheap way to get the average of all that the caller may find. */
function averageLength(rows: readonly FoundRow[]): number {
  const sum = rows.reduce((total, { length }) => total + length, 0);
  return Math.max(1, rows.length ? sum / rows.length : 1);
}

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
