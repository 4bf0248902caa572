import { keyedBy } from "../../../mixins/affinity.ts";
import type { SearchDrop, SearchFind, SearchMissed, SearchPut } from "../../../storage/search/entry.ts";
import { event, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { SearchNode } from "./search-node.ts";

interface OfTenant {
  tenant_id: string;
}

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
        embed_gap: internal<OfTenant & { kind?: SearchDrop["kind"] }>(({ params }) =>
          node.gap(params.tenant_id, params.kind ?? "memory"),
        ),
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
