import type { Call } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import type { BundleCandidate, BundleLeg, BundleLegAnswer } from "../memories/for-bundle.ts";
import type { Placed } from "./brief.ts";
import type { assembleBundle } from "./bundles.contract.ts";
import type { BundleKind } from "./bundles.model.ts";

type Query = ParamsOf<typeof assembleBundle>;

/** The legs of a bundle, with default limits (spec: Limits). */
const LEGS = [
  { kind: "memory", domain: "memories", cap: 12 },
  { kind: "output", domain: "outputs", cap: 5 },
  { kind: "handoff", domain: "handoffs", cap: 3 },
] as const;
/** Leaves out slower legs, because an agent waits for its bundle. In milliseconds. */
const PATIENCE = 5000;

interface Gathered {
  items: Placed[];
  degraded_reasons: string[];
}

/** Queries all legs concurrently, and merges their candidates. Reports a failed leg and continues. */
export async function gather(ctx: Call<Query>): Promise<Gathered> {
  const answers = await Promise.all(LEGS.map((leg) => ask(ctx, leg)));
  const candidates = answers.flatMap(({ items }, i) => items.map((item) => ({ kind: kindOf(i), item })));
  // Stable: with equal scores memories come first, and each kind keeps its order.
  candidates.sort((a, b) => b.item.score - a.item.score);
  return {
    items: candidates.map(({ kind, item }, i) => ({ ...item, kind, rank: i + 1, why: explain(item) })),
    degraded_reasons: answers.flatMap(({ degraded }, i) =>
      degraded.map((reason) => `${LEGS[i]?.domain}: ${reason}`),
    ),
  };
}

function kindOf(leg: number): BundleKind {
  return (LEGS[leg] as (typeof LEGS)[number]).kind;
}

async function ask(ctx: Call<Query>, { kind, domain, cap }: (typeof LEGS)[number]): Promise<BundleLegAnswer> {
  const { caps, project_id, since, until } = ctx.params;
  const limit = caps?.[domain] ?? cap;
  // Handoffs belong to no project.
  const isOther = kind === "handoff" && Boolean(project_id);
  const isEmpty = since && until && Date.parse(since) > Date.parse(until);
  if (limit === 0 || isOther || isEmpty) return { items: [], degraded: [] };
  try {
    const asked = legOf(kind, ctx.params, limit);
    return await ctx.call<BundleLegAnswer, BundleLeg>(`${domain}.for_bundle`, asked, { timeout: PATIENCE });
  } catch (err) {
    ctx.broker.logger.warn({ err, domain }, "a bundle was created without one of its domains");
    return { items: [], degraded: ["the search failed"] };
  }
}

function legOf(
  kind: BundleKind,
  { query, project_id, since, until, memory_scope, as_of, known_at, include_possible }: Query,
  limit: number,
): BundleLeg {
  return {
    query: isSaid(query) ? query : null,
    ...(project_id && { project_id }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(kind === "memory" && {
      ...(as_of !== undefined && { as_of }),
      ...(known_at !== undefined && { known_at }),
      ...(include_possible !== undefined && { include_possible }),
    }),
    ...(kind === "memory" && memory_scope && memory_scope !== "ascending" && { scope: memory_scope }),
    limit,
  };
}

export function isSaid(query: string | null | undefined): query is string {
  return typeof query === "string" && /\S/.test(query);
}

const WHY: Record<string, string> = {
  "vector+bm25": "Matches the query in words and in meaning.",
  vector: "Matches the query in meaning.",
  bm25: "Matches the query in words.",
  context: "Adjacent to text that matches the query.",
  recent: "One of the latest items.",
};

function explain({ source }: BundleCandidate): string {
  return WHY[source] ?? `Found by ${source}.`;
}
