import type { ServiceBroker } from "moleculer";
import type { Embedder } from "../../../connectors/embedders/embedder.ts";
import { makeEmbedder } from "../../../connectors/embedders/make.ts";
import { newUuid } from "../../../lib/ids.ts";
import { keyedBy, ownerOf } from "../../../mixins/affinity.ts";
import { onEveryNode } from "../../../mixins/every-node.ts";
import { Loop } from "../../../mixins/loop.ts";
import { metrics, observeGauge } from "../../../observability/metrics.ts";
import type { SearchDrop, SearchFind, SearchPut } from "../../../storage/search/entry.ts";
import type { SearchIndex } from "../../../storage/search/local-index.ts";
import type { NearDuplicate } from "../../../storage/search/protocol.ts";
import { idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { CatchUp, tenantErasure } from "./catch-up.ts";
import { Chance } from "./chance.ts";
import { EmbeddingWork } from "./embedding-loop.ts";
import { EmbeddingStore } from "./embedding-store.ts";
import { find } from "./find.ts";
import { IndexTurns, shareOf } from "./index-turns.ts";
import { makeIndex } from "./make-index.ts";
import { QueryVectors } from "./query-vectors.ts";
import { EmbeddingModel, ErasureModel } from "./search.model.ts";

type Dropped = Awaited<ReturnType<SearchIndex["drop"]>>;

const CATCH_UP_MS = 10_000;
const EMBED_MS = 5000;

/** Finds entries of other domains by words and by meaning: see docs/decisions/0022-search-index.md. */
export const searchService: ServiceFactory = ({ store, config, log, health }) => {
  const embeddings = new EmbeddingStore(store.collection(EmbeddingModel), store.now);
  const erasures = store.collection(ErasureModel);
  let broker: ServiceBroker;
  let index: SearchIndex;
  let embedder: Embedder | null = null;
  let vectors: QueryVectors;
  let turns: IndexTurns;
  let chance: Chance;
  let passes: CatchUp;
  let catchingUp: Loop;
  let embedding: { loop: Loop; work: EmbeddingWork } | undefined;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let embedderFault: string | null = null;

  /** Distributes tenants among the search nodes in the same way as their calls. */
  const owns = (tenant_id: string) => {
    const nodes = broker.registry.actions.get("search.find")?.endpoints as { id: string }[] | undefined;
    return !nodes?.length || ownerOf(tenant_id, nodes).id === broker.nodeID;
  };

  async function propose({ tenant_id, a, b, similarity }: NearDuplicate): Promise<void> {
    await broker.call("merges.propose_duplicate", { tenant_id, a, b, similarity });
  }

  function startEmbedding(by: Embedder): void {
    const made = (count: number) => metrics.embeddingsMade.inc(count);
    const work = new EmbeddingWork({
      ...{ index, store: embeddings, embedder: by, owns, propose, made },
      searchedAt: () => searchedAt,
    });
    const task = async () => {
      await work.run();
      if (embedderFault) log.info("the embedder answers again");
      embedderFault = null;
      return false;
    };
    const loop = new Loop(task, EMBED_MS, (err) => {
      const { message } = err as Error;
      if (message !== embedderFault) log.warn({ err }, "vectors are missing until this is over");
      embedderFault = message;
    });
    embedding = { loop, work };
    loop.start();
  }

  /** Warms up at start, so that the first searches need not wait. */
  async function warmUp(): Promise<void> {
    // Also warms up the embedder with its first call.
    if (await index.warm(owns)) chance.get();
  }

  /** Actions of each node, called through `onEveryNode`. */
  const here = {
    drop_here: idempotent<SearchDrop>(async ({ params: { tenant_id, kind, ids } }) => {
      // Vectors in progress of them are not written from here on.
      await embedding?.work.forget(tenant_id, kind, ids);
      return index.drop(tenant_id, kind, ids);
    }),

    drop_tenant_here: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
      await embedding?.work.forget(tenant_id);
      await index.dropTenant(tenant_id);
    }),

    /** Removes dropped entries from this node's file; returns null without one. */
    scrub: idempotent<object>(() => index.scrub()),
  };

  return {
    name: "search",
    actions: {
      ...here,
      ...keyedBy("params.tenant_id", {
        put: idempotent<SearchPut>(async (ctx) => {
          const { tenant_id, entries } = ctx.params;
          await index.put(tenant_id, entries, turns.writing(shareOf(tenant_id, ctx)));
          embedding?.loop.nudge();
        }),

        drop: idempotent<SearchDrop>(async (ctx) => {
          const { tenant_id, kind, ids } = ctx.params;
          // Recorded first: a node that is away learns of it from the record.
          await erasures.insert({ _id: newUuid(), tenant_id, kind, ids, at: new Date(store.now()) });
          const dropped = await onEveryNode<Dropped>(ctx.broker, "search.drop_here", ctx.params);
          const vectors = await embeddings.erase(tenant_id, kind, ids);
          const most = (count: keyof Dropped) => Math.max(0, ...dropped.map((each) => each[count]));
          return {
            vectors: Math.max(vectors, most("vectors")),
            chunks: kind === "chunk" ? most("entries") : 0,
          };
        }),

        find: internal<SearchFind>((ctx) => {
          const { params } = ctx;
          searchedAt = performance.now();
          const isNew = passes.isPartial(params.kind);
          const share = shareOf(params.tenant_id, ctx);
          return find({ index, vectors, chance, now: store.now, isNew, turns }, share, params);
        }),

        /** Drops all entries of a tenant on every node; its rows are already deleted from the record. */
        drop_tenant: idempotent<{ tenant_id: string }>(async (ctx) => {
          const { tenant_id } = ctx.params;
          await erasures.insertOnce(tenantErasure(tenant_id, new Date(store.now())));
          await onEveryNode(ctx.broker, "search.drop_tenant_here", { tenant_id });
        }),

        /** Returns how many of a tenant's entries have no vector yet. */
        embed_gap: internal<{ tenant_id: string; kind?: SearchDrop["kind"] }>(({ params }) =>
          index.gap(params.tenant_id, params.kind ?? "memory"),
        ),
      }),
    },

    events: {
      // Waits for the services that the catch-up reads rows from.
      "$broker.started"() {
        catchingUp.start();
        if (embedder) startEmbedding(embedder);
        warmUp().catch((err) => log.debug({ err }, "the search index is loaded when it is asked"));
      },
    },

    async started() {
      broker = this.broker;
      index = await makeIndex({
        config,
        store,
        onDeath: (err) => log.error({ err }, "the search index failed"),
      });
      embedder = await makeEmbedder(config);
      await index.useModel(embedder?.model ?? null);
      vectors = new QueryVectors(embedder);
      turns = new IndexTurns(index.searchesAtOnce);
      chance = new Chance(embedder);
      passes = new CatchUp({ broker, index, embeddings, erasures, now: store.now });
      await passes.begin();
      const pass = async () => {
        await passes.run();
        embedding?.loop.nudge();
        return false;
      };
      catchingUp = new Loop(pass, CATCH_UP_MS, (err) => log.warn({ err }, "search has to catch up later"));
      health.remark("embedder", () => embedderFault);
      observeGauge("embed_gap", "Entries of search that have no vector yet", "of", async () => ({
        all: await index.gap(),
      }));
    },

    async stopped() {
      embedding?.work.stop();
      await embedder?.close();
      await Promise.all([catchingUp?.stop(), embedding?.loop.stop()]);
      await index?.close();
    },
  };
};
