import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import type { Embedder } from "../../../connectors/embedders/embedder.ts";
import { makeEmbedder } from "../../../connectors/embedders/make.ts";
import { type Call, callerId, type OfTenant } from "../../../lib/access/caller.ts";
import { onEveryNode } from "../../../lib/broker/between-nodes.ts";
import { makeDirectory } from "../../../lib/files.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { FairQueue, Share } from "../../../lib/queue/fair-queue.ts";
import { keyedBy, nodesWith } from "../../../mixins/affinity.ts";
import { Loop } from "../../../mixins/loop.ts";
import { metrics, observeGauge, observeValue } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Removal, Store } from "../../../storage/connection.ts";
import {
  type SearchDrop,
  type SearchFind,
  type SearchFound,
  type SearchMissed,
  type SearchPut,
  searchable,
} from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import { type TaskRunner, tenantErasure } from "../../../storage/search/protocol.ts";
import { outgoing } from "../../outgoing.ts";
import { resourceQueue } from "../../platform/admission/resources.ts";
import { tallyUse } from "../../platform/usage/tally.ts";
import { event, idempotent, internal, type Runtime, type ServiceFactory } from "../../runtime.ts";
import { CatchUp, DOMAIN_OF } from "./catch-up.ts";
import { CosineScale } from "./cosine-scale.ts";
import { owns, type View } from "./coverage.ts";
import { EmbeddingStore, EmbeddingWork, KINDS, NEAR_DUPLICATE } from "./embedding-loop.ts";
import { find } from "./find.ts";
import { QueryVectors } from "./query-vectors.ts";
import {
  EmbeddingModel,
  EntryModel,
  type ErasureDoc,
  ErasureModel,
  SearchStateModel,
} from "./search.model.ts";

/** Finds entries of other domains by words and by meaning: see docs/decisions/0022-search-index.md. */
export const searchService: ServiceFactory = (runtime) => {
  const node = new SearchNode(runtime);

  return {
    name: "search",
    actions: {
      // Called on every node (`onEveryNode`).
      drop_here: idempotent<SearchDrop>(({ params }) => node.dropHere(params)),
      drop_tenant_here: idempotent<OfTenant>(({ params }) => node.dropTenantHere(params.tenant_id)),
      scrub: idempotent<object>(() => node.scrub()),

      // Called on the node that owns the tenant.
      ...keyedBy("params.tenant_id", {
        put: idempotent<SearchPut>((ctx) => node.put(ctx)),
        drop: idempotent<SearchDrop>(({ params }) => node.drop(params)),
        find: idempotent<SearchFind>((ctx) => node.find(ctx)),
        drop_tenant: idempotent<OfTenant>(({ params }) => node.dropTenant(params.tenant_id)),
        embed_gap: internal<OfTenant>(({ params }) => node.gap(params.tenant_id)),
      }),
    },

    events: {
      // Waits for the services that the catch-up reads rows from.
      "$broker.started": () => node.start(),
      "$services.changed": () => node.nodesChanged(),
      "$node.disconnected": () => node.nodesChanged(),
      "search.missed": event<SearchMissed>((missed) => node.missed(missed)),
    },

    started() {
      return node.open(this.broker);
    },

    stopped: () => node.close(),
  };
};

type Dropped = Awaited<ReturnType<SearchIndex["drop"]>>;

const CATCH_UP_MS = 10_000;
const EMBED_MS = 5000;

/** A node's index, and the work that keeps it complete: the catch-up with the record, and the vectors. */
class SearchNode {
  readonly #runtime: Runtime;
  readonly #embeddings: EmbeddingStore;
  readonly #erasures: TenantCollection<ErasureDoc>;
  #broker!: ServiceBroker;
  #index!: SearchIndex;
  #embedder: Embedder | null = null;
  #vectors!: QueryVectors;
  /** Shares the index among tenants, and among the callers of each. */
  #queue!: FairQueue;
  #scale!: CosineScale;
  #catchUp!: CatchUp;
  #catchingUp: Loop | undefined;
  #embedding: { loop: Loop; work: EmbeddingWork } | undefined;
  #embedderFault: string | null = null;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(runtime: Runtime) {
    const { store } = runtime;
    this.#runtime = runtime;
    this.#embeddings = new EmbeddingStore(store.collection(EmbeddingModel), store.now);
    this.#erasures = store.collection(ErasureModel);
  }

  /** Opens index and embedder. */
  async open(broker: ServiceBroker): Promise<void> {
    const { config, store, log, health, hooks } = this.#runtime;
    const index = await openIndex(config, store, (err) => log.error({ err }, "the search index failed"));
    this.#broker = broker;
    this.#index = index;
    this.#embedder = await makeEmbedder(config, hooks.embedders);
    await index.useModel(this.#embedder?.model ?? null);
    this.#vectors = new QueryVectors(this.#embedder, outgoing);
    this.#queue = newIndexQueue(index.searchesAtOnce);
    this.#scale = new CosineScale(this.#embedder);
    const record = { embeddings: this.#embeddings, erasures: this.#erasures };
    const view = () => this.#view();
    this.#catchUp = new CatchUp({ broker, index, ...record, now: store.now, view });
    await this.#catchUp.begin();
    health.remark("embedder", () => this.#embedderFault);
    health.remark("search_index", () =>
      this.#catchUp.missing ? "could not be written: searches may lack the latest changes" : null,
    );
    observeValue("search_index_behind", () => this.#catchUp.missing);
    observeGauge("embed_gap", async () => ({ all: await this.#ownGap() }));
  }

  /** Starts the work that needs other services. */
  start(): void {
    const { log } = this.#runtime;
    const pass = async () => {
      const wasBehind = this.#catchUp.missing > 0;
      const more = await this.#catchUp.run();
      if (wasBehind && this.#catchUp.missing === 0) log.info("search: the index is complete again");
      this.#embedding?.loop.nudge();
      return more;
    };
    this.#catchingUp = new Loop(pass, CATCH_UP_MS, (err) =>
      log.warn({ err }, "search: catching up failed and will be retried"),
    );
    this.#catchingUp.start();
    if (this.#embedder) this.#startEmbedding(this.#embedder);
    this.#warmUp().catch((err) =>
      log.debug({ err }, "search: the index will be loaded with the first query"),
    );
  }

  async close(): Promise<void> {
    this.#embedding?.work.stop();
    await this.#embedder?.close();
    await Promise.all([this.#catchingUp?.stop(), this.#embedding?.loop.stop()]);
    await this.#index?.close();
  }

  async put(ctx: Pick<Call<SearchPut>, "params" | "meta">): Promise<void> {
    const { tenant_id, entries } = ctx.params;
    const kinds = new Set(entries.map(({ kind }) => kind));
    const inTurn = writing(this.#queue, shareOf(tenant_id, ctx));
    await this.#index.put(tenant_id, searchable(entries), inTurn).catch((err) => {
      for (const kind of kinds) this.missed({ tenant_id, kind });
      throw err;
    });
    this.#embedding?.loop.nudge();
  }

  /** Marks searches until the catch-up has fetched changes that the index did not take, or that did not reach it. */
  missed({ tenant_id, kind }: SearchMissed): void {
    if (!this.#catchUp) return;
    if (this.#catchUp.missing === 0)
      this.#runtime.log.warn("search: the index lacks changes: searches are marked until it has them");
    this.#catchUp.miss([DOMAIN_OF[kind]], tenant_id);
  }

  find(ctx: Pick<Call<SearchFind>, "params" | "meta">): Promise<SearchFound> {
    const { params } = ctx;
    this.#searchedAt = performance.now();
    const { kind, tenant_id } = params;
    tallyUse(tenant_id, "searches");
    const lacks = this.#catchUp.lacks(kind, tenant_id);
    if (this.#catchUp.ask(kind, tenant_id)) this.#catchingUp?.nudge();
    const share = shareOf(tenant_id, ctx);
    const parts = {
      index: this.#index,
      vectors: this.#vectors,
      scale: this.#scale,
      now: this.#runtime.store.now,
      lacks,
      searching: searching(this.#queue, share),
      reranking: this.#runtime.hooks.reranking ?? null,
    };
    return find(parts, share, params);
  }

  /** Drops entries on every node; returns how many vectors and chunks there were. */
  async drop(drop: SearchDrop): Promise<{ vectors: number; chunks: number }> {
    const { tenant_id, kind, ids } = drop;
    // Recorded first: a node that is away learns of it from the record.
    const at = new Date(this.#runtime.store.now());
    await this.#erasures.insert({ _id: newUuid(), tenant_id, kind, ids, at });
    const dropped = await onEveryNode<Dropped>(this.#broker, "search.drop_here", drop);
    const vectors = await this.#embeddings.erase(tenant_id, kind, ids);
    const most = (count: keyof Dropped) => Math.max(0, ...dropped.map((each) => each[count]));
    return { vectors: Math.max(vectors, most("vectors")), chunks: kind === "chunk" ? most("entries") : 0 };
  }

  /** Drops entries on this node; vectors of them that are being computed are not written any more. */
  async dropHere({ tenant_id, kind, ids }: SearchDrop): Promise<Dropped> {
    await this.#embedding?.work.forget(tenant_id, kind, ids);
    return this.#index.drop(tenant_id, kind, ids);
  }

  /** Drops all entries of a tenant on every node; its rows are already deleted from the record. */
  async dropTenant(tenant_id: string): Promise<void> {
    await this.#erasures.insertOnce(tenantErasure(tenant_id, new Date(this.#runtime.store.now())));
    await onEveryNode(this.#broker, "search.drop_tenant_here", { tenant_id });
  }

  async dropTenantHere(tenant_id: string): Promise<void> {
    await this.#embedding?.work.forget(tenant_id);
    await this.#index.dropTenant(tenant_id);
  }

  /** Removes dropped entries from this node's file; returns null without one. */
  scrub(): Promise<Removal | null> {
    return this.#index.scrub();
  }

  /** Returns how many of a tenant's memories have no vector yet. */
  gap(tenant_id: string): Promise<number> {
    return this.#index.gap(tenant_id, "memory");
  }

  /** Catches up at once when other nodes have left or joined: this one may own their tenants now. */
  nodesChanged(): void {
    if (this.#catchUp?.nodesChanged()) this.#catchingUp?.nudge();
  }

  /** Distributes tenants among the search nodes in the same way as their calls. */
  #owns(tenant_id: string): boolean {
    return owns(this.#view(), tenant_id);
  }

  #view(): View {
    const self = this.#broker.nodeID;
    const others = nodesWith(this.#broker, "search").flatMap(({ id }) => (id === self ? [] : [id]));
    return { self, nodes: [self, ...others].sort() };
  }

  /** Counts the entries without a vector of this node's own tenants. */
  async #ownGap(): Promise<number> {
    let all = 0;
    for (const tenant_id of await this.#index.waiting())
      if (this.#owns(tenant_id)) for (const kind of KINDS) all += await this.#index.gap(tenant_id, kind);
    return all;
  }

  /** Warms up at start, so that the first searches need not wait. */
  async #warmUp(): Promise<void> {
    // Also warms up the embedder with its first call.
    if (await this.#index.warm((tenant_id) => this.#owns(tenant_id))) this.#scale.get();
  }

  #startEmbedding(embedder: Embedder): void {
    const { log } = this.#runtime;
    const work = new EmbeddingWork({
      ...{ index: this.#index, store: this.#embeddings, embedder },
      owns: (tenant_id) => this.#owns(tenant_id),
      nearDuplicate: () => this.#scale.toOwn(NEAR_DUPLICATE),
      propose: async (tenant_id, pairs) => {
        const duplicates = pairs.map(({ a, b, similarity }) => ({ a, b, similarity }));
        await this.#broker.call("merges.propose_duplicates", { tenant_id, duplicates });
      },
      refused: ({ tenant_id, kind, id, text }, kept) =>
        log.warn(
          { tenant_id, kind, id, characters: text.length, kept },
          kept
            ? "the embedder refused a text: its vector is of its beginning"
            : "the embedder refused a text: it is found by words only",
        ),
      made: (count) => metrics.embeddingsMade.inc(count),
      searchedAt: () => this.#searchedAt,
    });
    const task = async () => {
      await work.run();
      if (this.#embedderFault) log.info("the embedder answers again");
      this.#embedderFault = null;
      return false;
    };
    const loop = new Loop(task, EMBED_MS, (err) => {
      const { message } = err as Error;
      if (message !== this.#embedderFault)
        log.warn({ err }, "the embedder failed: new entries have no vectors until it recovers");
      this.#embedderFault = message;
    });
    this.#embedding = { loop, work };
    loop.start();
  }
}

/** Units of a search; an entry that is written takes one. */
const SEARCH = 50;

/** Of concurrent searches one is always reserved for another tenant. */
export function newIndexQueue(searchesAtOnce: number): FairQueue {
  return resourceQueue("search", {
    ...{ capacity: searchesAtOnce * SEARCH, perTenant: (searchesAtOnce - 1) * SEARCH, chargeTime: true },
    // Less than the timeout of a call between services.
    ...{ maxWaiting: 256, patienceMs: 10_000 },
  });
}

export const searching =
  (queue: FairQueue, share: Share): TaskRunner =>
  (units, task) =>
    queue.run(share, units * SEARCH, task, { queued: units });

/** As many writes may wait as the gateway admits. Those that wait longer are left to the catch-up. */
export const writing =
  (queue: FairQueue, share: Share): TaskRunner =>
  (units, task) =>
    queue.run(share, units, task, { queued: 1 / 8, patienceMs: 4000 });

/** Returns whom a call is made for; the service's own calls have a separate share. */
function shareOf(tenant_id: string, { meta }: Pick<Call, "meta">): Share {
  return { tenant_id, caller: meta.caller ? callerId(meta.caller) : "service" };
}

/**
 * Opens the index that `SEARCH` names; resolves when it is ready. Rejects with the reason if it cannot be used.
 * @param onDeath called if the local index's thread fails
 */
async function openIndex(
  { SEARCH, DATA_DIR: dataDir, ERASURE_REWRITE_MB: rewriteMegabytes }: Config,
  store: Store,
  onDeath: (error: Error) => void,
): Promise<SearchIndex> {
  let index: SearchIndex;
  if (SEARCH === "atlas") {
    const { AtlasIndex } = await import("../../../storage/search/atlas/atlas-index.ts");
    const parts = { entries: store.collection(EntryModel), state: store.collection(SearchStateModel) };
    // A search index can be created only on an existing collection.
    await store.ready();
    index = new AtlasIndex(parts);
  } else {
    const { LocalIndex } = await import("../../../storage/search/local-index.ts");
    // On a node with MongoDB as the record nothing else creates it.
    await makeDirectory(dataDir);
    index = new LocalIndex({ dataDir, onDeath, rewriteMegabytes });
  }
  await index.ready();
  return index;
}
