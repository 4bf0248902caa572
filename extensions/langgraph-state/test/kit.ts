import type { Kit } from "../../../test/support/kits.ts";
import { ok } from "../../../test/support/tenancy.ts";

const text = (length: number) => "x".repeat(length);

export const kit: Kit = {
  verbs: ["clear"],
  access: `
state.namespaces             agents        memory:read        GET /v1/state
state.list                   agents        memory:read   tool GET /v1/state/{namespace}
state.put_many               agents        memory:write       POST /v1/state/{namespace}
state.clear                  agents        memory:write       DELETE /v1/state/{namespace}
state.get                    agents        memory:read   tool GET /v1/state/{namespace}/{key}
state.put                    agents        memory:write  tool PUT /v1/state/{namespace}/{key}
state.delete                 agents        memory:write  tool DELETE /v1/state/{namespace}/{key}
`,
  freeForm: ["state.put.metadata", "state.put_many.entries[].metadata"],
  largeBodies: { "state.put": "blob" },
  pages: { "get /v1/state": "1 100 200", "get /v1/state/{namespace}": "1 100 100" },
  makers: {
    state_namespace: async ({ slug }) => `of-${slug}`,
    state_key: async ({ agent, slug }) =>
      ok(await agent.put(`/state/of-${slug}/state-of-${slug}`, { value: "v" })).key,
  },
  maximal: { state: () => ({ value: text(65_000), metadata: JSON.stringify({ notes: text(10_000) }) }) },
  madeIds: ["state"],
};
