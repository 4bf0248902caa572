import type { ServiceBroker } from "moleculer";
import { LruMap } from "../../../lib/lru-map.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/time.ts";
import { Unwritten } from "../../../mixins/quiet.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import {
  type SearchEntriesAnswer,
  type SearchEntriesPage,
  type SearchEntry,
  type SearchKind,
  searchable,
} from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import { ERASURES_CURSOR, MOST_AWAY_MS, NO_TENANT } from "../../../storage/search/protocol.ts";
import { isSystemic } from "../../../storage/store-lost.ts";
import { Coverage, owns, type View } from "./coverage.ts";
import type { EmbeddingStore } from "./embedding-loop.ts";
import { type ErasureDoc, ErasureModel } from "./search.model.ts";

/** Domain of each kind of entry: each offers `search_entries`. */
export const DOMAIN_OF: Record<SearchKind, string> = {
  memory: "memories",
  chunk: "documents",
  handoff: "handoffs",
  output: "outputs",
};
const DOMAINS = Object.values(DOMAIN_OF);
/** The collection that each reads for `search_entries`. */
const READ: Record<string, string> = {
  memories: "memories",
  documents: "document_chunks",
  handoffs: "handoffs",
  outputs: "output_chunks",
};
const PAGE = 200;
const TENANTS = 100;
/** A row may become readable this long after its timestamp. */
const OVERLAP_MS = 5000;

/** Passes that an entry may end by its failure. */
const PATIENCE = 5;
const MOST_REMEMBERED = 1000;

interface Position {
  changed_at: number;
  /** Empty: a pass ended there. */
  id: string;
}

interface Dependencies {
  broker: ServiceBroker;
  index: SearchIndex;
  embeddings: Pick<EmbeddingStore, "erase">;
  erasures: TenantCollection<ErasureDoc>;
  /** The store's clock. */
  now(): number;
  /** The nodes with an index, as this one sees them. */
  view(): View;
}

/**
 * Fetches the changes that this node's index has missed: while it was away, while it was unreachable, while another node
 * owned the tenant, or all if it is new. A node's own index holds the tenants of `Coverage`; the one that all nodes
 * share is kept by one of them.
 */
export class CatchUp {
  readonly #deps: Dependencies;
  readonly #coverage: Coverage;
  /** Domains that a new index holds only in part. */
  readonly #partial = new Set<string>();
  /** When changes did not get into the index, by domain and tenant, or by domain if it may be any tenant's. */
  readonly #missed = new Map<string, number>();
  /** How often entries failed by themselves. */
  readonly #failures = new LruMap<string, number>(MOST_REMEMBERED);
  readonly #looks = new Map(DOMAINS.map((domain) => [domain, new Unwritten(READ[domain] as string)]));
  readonly #erasureLook = new Unwritten(ErasureModel.name);
  /** When notes of erasures were last deleted. */
  #forgotAt = Number.NEGATIVE_INFINITY;
  /** The nodes that there were when the last finished pass began. */
  #caughtUp: View | null = null;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#coverage = new Coverage(deps.index, deps.view());
  }

  /** Determines which domains the index holds only in part. Call before the first search. */
  async begin(): Promise<void> {
    await this.#findPartial();
    if (!this.#deps.index.isShared) await this.#coverage.begin();
  }

  /** Returns why searches of the tenant's entries of a kind may miss some; empty if none. */
  lacks(kind: SearchKind, tenant_id: string): string[] {
    const domain = DOMAIN_OF[kind];
    const isOwn = !this.#deps.index.isShared;
    const isPartial = this.#partial.has(domain) || (isOwn && !this.#coverage.has(domain, tenant_id));
    // Another node owned the tenant, and this one has not caught up since.
    const isLate = isOwn && (this.#caughtUp === null || !owns(this.#caughtUp, tenant_id));
    const isBehind = this.#missed.has(`${domain} ${tenant_id}`) || this.#missed.has(`${domain} `);
    return [
      ...(isPartial ? ["bm25, vector: the index is being built; only part of it was searched"] : []),
      ...(isLate
        ? ["bm25, vector: the index has just been taken over, and the latest changes may be missing"]
        : []),
      ...(isBehind
        ? ["bm25, vector: the index could not be written, and the latest changes may be missing"]
        : []),
    ];
  }

  /** Whether the index lacks the tenant and was not asked for it before: then `run` is due. */
  ask(kind: SearchKind, tenant_id: string): boolean {
    if (this.#deps.index.isShared || this.#coverage.has(DOMAIN_OF[kind], tenant_id)) return false;
    return this.#coverage.ask(tenant_id);
  }

  /** Notes that the index did not take changes: of a tenant, or in a pass over all. */
  miss(domains: Iterable<string>, tenant_id = ""): void {
    for (const domain of domains) this.#missed.set(`${domain} ${tenant_id}`, this.#deps.now());
  }

  /** How many tenants' kinds of entries lack changes. */
  get missing(): number {
    return this.#missed.size;
  }

  /** Returns up to when a domain's changes are in the index after a pass: perhaps another node's, if all share it. */
  async #completeTo(domain: string, began: number): Promise<number> {
    if (!this.#deps.index.isShared) return this.#isThere(domain) ? began : 0;
    const cursor = await this.#cursor(domain);
    return cursor?.id === "" ? cursor.changed_at : 0;
  }

  /** Whether the nodes with an index changed: then `run` is due. */
  nodesChanged(): boolean {
    return this.#coverage.see(this.#deps.view());
  }

  /** Runs one pass over all domains, to the end of each. @returns whether there is more to fetch */
  async run(): Promise<boolean> {
    const began = this.#deps.now();
    const more = this.#deps.index.isShared ? await this.#runShared() : await this.#runOwn();
    for (const [key, at] of [...this.#missed])
      if (at < (await this.#completeTo(key.split(" ")[0] as string, began))) this.#missed.delete(key);
    return more;
  }

  async #runOwn(): Promise<boolean> {
    this.nodesChanged();
    this.#coverage.start();
    const { view } = this.#coverage;
    await this.#pass();
    this.#caughtUp = view;
    const more = this.#coverage.isBehind && (await this.#fillNext());
    await this.#coverage.tidy();
    return more;
  }

  /** One node keeps the shared index up to date for all. */
  async #runShared(): Promise<false> {
    if (owns(this.#deps.view(), "catch-up")) await this.#pass();
    else if (this.#partial.size > 0) await this.#findPartial();
    return false;
  }

  async #findPartial(): Promise<void> {
    this.#partial.clear();
    for (const domain of DOMAINS) if ((await this.#cursor(domain))?.id !== "") this.#partial.add(domain);
  }

  async #pass(): Promise<void> {
    for (const domain of DOMAINS)
      if (this.#isThere(domain) && !(await this.#isCurrent(domain)))
        await this.#looks.get(domain)?.look(() => this.#domain(domain));
    // After the entries, so that a page read earlier cannot restore erased ones.
    const erased = await this.#deps.index.cursor(ERASURES_CURSOR);
    if (erased === null || !this.#erasureLook.isQuiet)
      await this.#erasureLook.look(() => this.#erase(Number(erased ?? 0)));
    await this.#forgetErasures();
  }

  /** Whether a domain has no changes since the last pass. That of an index which all share says how far it has come. */
  async #isCurrent(domain: string): Promise<boolean> {
    if (this.#deps.index.isShared || this.#caughtUp !== this.#coverage.view) return false;
    if (!this.#looks.get(domain)?.isQuiet) return false;
    for (const key of this.#missed.keys()) if (key.startsWith(`${domain} `)) return false;
    // An index that was lost has none.
    return (await this.#cursor(domain))?.id === "";
  }

  /** Fetches one tenant that this node holds since the nodes changed. @returns whether there may be another */
  async #fillNext(): Promise<boolean> {
    const { view, isSteady, isAsked } = this.#coverage;
    if (!isSteady && !isAsked) return false;
    let isComplete = isSteady;
    for (const tenant_id of await this.#tenants()) {
      const due = DOMAINS.filter((domain) => this.#coverage.isDue(domain, tenant_id, isSteady));
      const there = due.filter((domain) => this.#isThere(domain));
      for (const domain of there) await this.#fill(domain, tenant_id);
      if (there.length > 0) return true;
      if (due.length > 0) isComplete = false;
    }
    if (isComplete) await this.#coverage.complete(view);
    return false;
  }

  async #fill(domain: string, tenant_id: string): Promise<void> {
    const began = this.#deps.now();
    let after: Position | null = null;
    do {
      const { entries, last }: SearchEntriesAnswer = await this.#page(domain, {
        tenant_id,
        after,
        limit: PAGE,
      });
      for (const [id, own] of byTenant(entries)) await this.#put(domain, id, own);
      after = last;
      // Later changes are found by the next pass.
    } while (after && after.changed_at < began);
    this.#coverage.fill(domain, tenant_id);
  }

  async #tenants(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const params = { offset: ids.length, limit: TENANTS };
      const { tenants } = await this.#deps.broker.call<{ tenants: { id: string }[] }, unknown>(
        "tenants.list",
        params,
      );
      ids.push(...tenants.map(({ id }) => id));
      if (tenants.length < TENANTS) return ids;
    }
  }

  async #page(domain: string, page: SearchEntriesPage): Promise<SearchEntriesAnswer> {
    const { broker } = this.#deps;
    const action = `${domain}.search_entries`;
    const answer = await broker.call<SearchEntriesAnswer, SearchEntriesPage>(action, page);
    for (const row of answer.unreadable ?? []) broker.logger.warn(`search: left out ${domain} ${row}`);
    return answer;
  }

  #isThere(domain: string): boolean {
    return Boolean(this.#deps.broker.registry.actions.isAvailable(`${domain}.search_entries`));
  }

  async #domain(domain: string): Promise<void> {
    const began = this.#deps.now();
    const settled = began - OVERLAP_MS;
    let after = await this.#cursor(domain);
    for (;;) {
      const { entries, last } = await this.#page(domain, { after, limit: PAGE });
      for (const [tenant_id, own] of byTenant(entries))
        if (this.#deps.index.isShared || this.#coverage.wants(domain, tenant_id))
          await this.#put(domain, tenant_id, own);
      // A page of long entries has fewer than asked for: only an empty one is the last. Later changes are the next pass's.
      if (!last || last.changed_at >= began) break;
      if (last.changed_at < settled) await this.#setCursor(domain, last);
      after = last;
    }
    // Nothing older can still appear: the next pass begins there.
    await this.#setCursor(domain, { changed_at: settled, id: "" });
    this.#partial.delete(domain);
  }

  async #put(domain: string, tenant_id: string, entries: SearchEntry[]): Promise<void> {
    const failed = async (err: unknown) => {
      if (entries.length > 1) for (const each of entries) await this.#put(domain, tenant_id, [each]);
      else this.#leaveOut(domain, `${domain} ${tenant_id} ${entries[0]?.id}`, err);
    };
    await this.#deps.index.put(tenant_id, searchable(entries)).catch(failed);
  }

  /** Gives up an entry that has failed too often for the others to wait. @throws before that, which ends the pass */
  #leaveOut(domain: string, entry: string, err: unknown): void {
    const failures = (this.#failures.get(entry) ?? 0) + 1;
    this.#failures.set(entry, failures);
    if (failures === PATIENCE) this.#deps.broker.logger.warn({ err }, `search: left out ${entry}`);
    if (failures >= PATIENCE && !isSystemic(err)) return;
    // The rest of the pass is missing, too.
    this.miss([domain]);
    throw err;
  }

  async #cursor(domain: string): Promise<Position | null> {
    const kept = await this.#deps.index.cursor(domain);
    return kept === null ? null : (JSON.parse(kept) as Position);
  }

  async #setCursor(domain: string, position: Position): Promise<void> {
    if (!this.#deps.index.isShared) await this.#coverage.save();
    await this.#deps.index.setCursor(domain, JSON.stringify(position));
  }

  async #erase(since: number): Promise<void> {
    const settled = this.#deps.now() - OVERLAP_MS;
    let dropped = 0;
    for (let skip = 0; ; ) {
      const options = { sort: { at: 1, _id: 1 }, skip, limit: PAGE } as const;
      const { rows, more } = await this.#deps.erasures.findAnyWithin(
        { at: { $gte: new Date(since) } },
        options,
      );
      for (const row of rows) dropped += await this.#eraseOne(row);
      if (!more && rows.length < PAGE) break;
      skip += rows.length;
    }
    if (dropped > 0) await this.#deps.index.scrub();
    await this.#deps.index.setCursor(ERASURES_CURSOR, String(settled));
  }

  async #forgetErasures(): Promise<void> {
    if (performance.now() - this.#forgotAt < HOUR_MS || !owns(this.#deps.view(), "erasures")) return;
    this.#forgotAt = performance.now();
    // Indexes that were away for longer are rebuilt; notes are kept a day longer than that.
    const forgotten = new Date(this.#deps.now() - MOST_AWAY_MS - DAY_MS);
    await this.#deps.erasures.system.deleteMany({ at: { $lt: forgotten } });
  }

  /** Returns an upper bound of the entries that were there. */
  async #eraseOne({ tenant_id, kind, ids }: ErasureDoc): Promise<number> {
    if (kind) {
      const { entries } = await this.#deps.index.drop(tenant_id, kind, ids);
      // A node can have lost the tenant while it computed a vector.
      await this.#deps.embeddings.erase(tenant_id, kind, ids);
      return entries;
    }
    if (tenant_id !== NO_TENANT) return 0;
    await this.#deps.index.dropTenant(ids[0] as string);
    return 1;
  }
}

/** Returns the entries of each tenant. */
const byTenant = (entries: SearchEntriesAnswer["entries"]): [string, SearchEntry[]][] =>
  [...Map.groupBy(entries, ({ tenant_id }) => tenant_id)].map(([tenant_id, own]) => [
    tenant_id,
    own.map(({ tenant_id: _, ...entry }) => entry),
  ]);
