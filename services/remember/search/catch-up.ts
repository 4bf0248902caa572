import type { ServiceBroker } from "moleculer";
import { DAY_MS } from "../../../lib/time.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type {
  SearchEntriesAnswer,
  SearchEntriesPage,
  SearchEntry,
  SearchKind,
} from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import { ERASURES_CURSOR, MOST_AWAY_MS } from "../../../storage/search/protocol.ts";
import type { EmbeddingStore } from "./embedding-store.ts";
import type { ErasureDoc } from "./search.model.ts";

/** Domain of each kind of entry: each offers `search_entries`. */
const DOMAIN_OF: Record<SearchKind, string> = {
  memory: "memories",
  chunk: "documents",
  handoff: "handoffs",
  output: "outputs",
};
const DOMAINS = Object.values(DOMAIN_OF);
const PAGE = 200;
/** A row may become readable this long after its timestamp. */
const OVERLAP_MS = 5000;
/** Owner of notes about erased tenants, which must outlive the tenant. */
const NO_TENANT = "none";

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
}

/**
 * Fetches the changes that this node's index has missed: while it was away, while it was unreachable, or all if it is
 * new.
 */
export class CatchUp {
  readonly #deps: Dependencies;
  /** Domains that a new index holds only in part. */
  readonly #partial = new Set<string>();

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Determines which domains the index holds only in part. Call before the first search. */
  async begin(): Promise<void> {
    for (const domain of DOMAINS) if ((await this.#cursor(domain))?.id !== "") this.#partial.add(domain);
  }

  isPartial(kind: SearchKind): boolean {
    return this.#partial.has(DOMAIN_OF[kind]);
  }

  /** Runs one pass over all domains, to the end of each. */
  async run(): Promise<void> {
    for (const domain of DOMAINS) if (this.#isThere(domain)) await this.#domain(domain);
    // After the entries, so that a page read earlier cannot restore erased ones.
    await this.#erase();
  }

  #isThere(domain: string): boolean {
    return Boolean(this.#deps.broker.registry.actions.isAvailable(`${domain}.search_entries`));
  }

  async #domain(domain: string): Promise<void> {
    const settled = this.#deps.now() - OVERLAP_MS;
    let after = await this.#cursor(domain);
    for (;;) {
      const page: SearchEntriesPage = { after, limit: PAGE };
      const { entries, last } = await this.#deps.broker.call<SearchEntriesAnswer, SearchEntriesPage>(
        `${domain}.search_entries`,
        page,
      );
      for (const [tenant_id, own] of byTenant(entries)) await this.#deps.index.put(tenant_id, own);
      if (!last || entries.length < PAGE) break;
      if (last.changed_at < settled) await this.#setCursor(domain, last);
      after = last;
    }
    // Nothing older can still appear: the next pass begins there.
    await this.#setCursor(domain, { changed_at: settled, id: "" });
    this.#partial.delete(domain);
  }

  async #cursor(domain: string): Promise<Position | null> {
    const kept = await this.#deps.index.cursor(domain);
    return kept === null ? null : (JSON.parse(kept) as Position);
  }

  async #setCursor(domain: string, position: Position): Promise<void> {
    await this.#deps.index.setCursor(domain, JSON.stringify(position));
  }

  async #erase(): Promise<void> {
    const settled = this.#deps.now() - OVERLAP_MS;
    const since = Number((await this.#deps.index.cursor(ERASURES_CURSOR)) ?? 0);
    let dropped = 0;
    for (let skip = 0; ; skip += PAGE) {
      const rows = (await this.#deps.erasures.system
        .find({ at: { $gte: new Date(since) } }, { sort: { at: 1, _id: 1 }, skip, limit: PAGE })
        .toArray()) as ErasureDoc[];
      for (const row of rows) dropped += await this.#eraseOne(row);
      if (rows.length < PAGE) break;
    }
    if (dropped > 0) await this.#deps.index.scrub();
    await this.#deps.index.setCursor(ERASURES_CURSOR, String(settled));
    // Indexes that were away for longer are rebuilt; notes are kept a day longer than that.
    const forgotten = new Date(this.#deps.now() - MOST_AWAY_MS - DAY_MS);
    await this.#deps.erasures.system.deleteMany({ at: { $lt: forgotten } });
  }

  /** Returns an upper bound of the entries that were there. */
  async #eraseOne({ tenant_id, kind, ids }: ErasureDoc): Promise<number> {
    if (kind) {
      const { entries } = await this.#deps.index.drop(tenant_id, kind, ids);
      // A node may have been computing a vector when it lost the tenant.
      await this.#deps.embeddings.erase(tenant_id, kind, ids);
      return entries;
    }
    if (tenant_id !== NO_TENANT) return 0;
    await this.#deps.index.dropTenant(ids[0] as string);
    return 1;
  }
}

/** Returns the note that a tenant was erased, for nodes that are away. */
export function tenantErasure(tenant_id: string, at: Date): ErasureDoc {
  return { _id: `tenant ${tenant_id}`, tenant_id: NO_TENANT, kind: null, ids: [tenant_id], at };
}

function byTenant(entries: SearchEntriesAnswer["entries"]): Map<string, SearchEntry[]> {
  const tenants = new Map<string, SearchEntry[]>();
  for (const { tenant_id, ...entry } of entries) {
    const own = tenants.get(tenant_id);
    if (own) own.push(entry);
    else tenants.set(tenant_id, [entry]);
  }
  return tenants;
}
