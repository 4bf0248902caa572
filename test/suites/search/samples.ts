import { parseQuery } from "../../../services/remember/search/find.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { LegsQuery } from "../../../storage/search/protocol.ts";

export const TENANT = "tn_1";
export const NOW = Date.UTC(2026, 0, 31);

let made = 0;

/** An entry of agent `ag_a`, later than those before it. */
export function entry(more: Partial<SearchEntry> = {}): SearchEntry {
  const n = ++made;
  return {
    ...{ kind: "memory", id: `id-${String(n).padStart(6, "0")}`, version: 1, title: "A title" },
    ...{ text: "Some text", scope: "agent", agent_id: "ag_a", team_id: null, type: "semantic" },
    ...{ project_id: null, tags: [], confidence: 0.5, importance: 0.5, created_at: NOW - 1_000_000 + n },
    ...{ date: null, expires_at: null, superseded: false, cites: 0, thread: null },
    ...more,
  };
}

/** Returns a query by agent `ag_a`. */
export function query(text: string, more: Partial<LegsQuery> = {}): LegsQuery {
  const { terms, words, variants } = parseQuery(text, NOW);
  return {
    tenant_id: TENANT,
    kind: "memory",
    ...{ terms, words, variants },
    ...{ vector: null, access: { agent_ids: ["ag_a"], team_ids: [] }, where: {} },
    ...{ include_superseded: false, now: NOW },
    ...more,
  };
}

/** A vector of 8 components that points where its numbers say. */
export function vector(...numbers: number[]): Float32Array {
  return Float32Array.from({ length: 8 }, (_, i) => numbers[i] ?? 0);
}

export function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, each, i) => sum + each * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
