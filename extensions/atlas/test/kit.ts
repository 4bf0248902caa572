import type { Kit } from "../../../test/support/kits.ts";

export const kit: Kit = {
  noContent: { search_entries: "thread position embedded", search_state: "value" },
  finders: {
    "extensions/atlas/atlas-index.ts": "the index of all tenants: its definitions, and what lacks a vector",
  },
  checks: async () => (await import("./checks.ts")).CHECKS,
};
