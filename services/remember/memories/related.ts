import type { Call } from "../../../lib/access/caller.ts";
import { mayRead } from "../../../lib/access/visibility.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import type { SearchFind, SearchHit } from "../../../storage/search/entry.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";

/** A hit with its row. */
export interface FoundRow extends Omit<SearchHit, "id" | "superseded"> {
  row: MemoryDoc;
}

/** A relationship seen from one of its ends. */
export interface LeadingEdge {
  from: string;
  to: string;
  type: string;
  /** 0 to 1. */
  strength: number;
}

/** Hits that lead on: so many of the best, with so much of the best's score; and how many memories these bring. */
const MOST = { from: 3, share: 0.6, to: 2 };
/** The share of a hit's score that a memory gets by a relationship of full strength; of none, half as much. */
const STEP = 0.9;

/** Adds memories that relationships lead to from the best hits: a question may need both. Best first. */
export async function withRelated(
  memories: Memories,
  ctx: Pick<Call, "call">,
  { tenant_id, access, min_score = 0 }: SearchFind,
  hits: FoundRow[],
): Promise<FoundRow[]> {
  const least = (hits[0]?.score ?? 0) * MOST.share;
  const best = new Map(
    hits.slice(0, MOST.from).flatMap((hit) => (hit.score >= least ? [[hit.row._id, hit]] : [])),
  );
  const asked = { tenant_id, ids: [...best.keys()] };
  const edges = await ctx.call<LeadingEdge[], unknown>("relationships.leading", asked).catch(none);
  const known = new Map(hits.map((hit) => [hit.row._id, hit.score]));
  const steps = edges
    .flatMap(({ from, to, type, strength }) => {
      const score = (best.get(from)?.score ?? 0) * STEP * ((1 + strength) / 2);
      return score > Math.max(min_score, known.get(to) ?? 0) ? [{ to, score, through: type }] : [];
    })
    .sort((a, b) => b.score - a.score || (a.to < b.to ? -1 : 1));
  const reached = new Map(steps.toReversed().map((step) => [step.to, step]));
  const rows = await memories.rows.findEach(tenant_id, [...reached.keys()]);
  const added = rows
    .filter((row) => row.status === "active" && !memories.isExpired(row) && mayRead(access, row))
    .flatMap((row) => {
      const step = reached.get(row._id);
      return step ? [{ row, score: step.score, sources: {}, through: step.through }] : [];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST.to);
  const replaced = new Set(added.map(({ row }) => row._id));
  return [...hits.filter(({ row }) => !replaced.has(row._id)), ...added].sort((a, b) => b.score - a.score);
}

/** A search answers without what only another node knows. */
function none(err: unknown): never[] {
  if (isUnreached(err)) return [];
  throw err;
}

/** Whether a search has no filter: what relationships lead to is in no index that could check one. */
export function isOpen({ where = {} }: SearchFind): boolean {
  return Object.values(where).every(
    (each) => typeof each === "object" && Object.keys(each ?? {}).length === 0,
  );
}
