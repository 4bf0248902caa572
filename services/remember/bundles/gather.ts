import type { Call } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { defined } from "../../../lib/defined.ts";
import type { BundleCandidate, BundleLeg, BundleLegAnswer } from "../memories/for-bundle.ts";
import type { Gathered } from "./brief.ts";
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

/** Queries all legs concurrently, and merges their candidates. Reports a failed leg and continues. */
export async function gather(ctx: Call<Query>): Promise<Pick<Gathered, "items" | "degraded_reasons">> {
  const answers = await Promise.all(LEGS.map(async (leg) => ({ ...leg, ...(await ask(ctx, leg)) })));
  const candidates = answers.flatMap(({ kind, items }) => items.map((item) => ({ kind, item })));
  // Stable: with equal scores memories come first, and each kind keeps its order.
  candidates.sort((a, b) => b.item.score - a.item.score);
  return {
    items: candidates.map(({ kind, item }, i) => ({ ...item, kind, rank: i + 1, why: explain(item) })),
    degraded_reasons: answers.flatMap(({ domain, degraded }) =>
      degraded.map((reason) => `${domain}: ${reason}`),
    ),
  };
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
  const scope = memory_scope === "ascending" ? undefined : memory_scope;
  const ofMemories = kind === "memory" ? { scope, as_of, known_at, include_possible } : {};
  const narrowed = defined({ project_id: project_id || undefined, since, until, ...ofMemories });
  return { query: isSaid(query) ? query : null, ...narrowed, limit };
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
