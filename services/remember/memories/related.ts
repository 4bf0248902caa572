import type { Call } from "../../../lib/access/caller.ts";
import { isUnreached } from "../../../lib/broker/between-nodes.ts";
import type { SearchFind, SearchHit } from "../../../storage/search/entry.ts";
import type { MemoryDoc } from "./memories.model.ts";

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

/**
 * Adds memories that relationships lead to from the best hits: a question may need both. Best first.
 * @param rowsOf reads what may be shown of the hits that it is given
 */
export async function withRelated(
  ctx: Pick<Call, "call">,
  { tenant_id, min_score = 0 }: SearchFind,
  hits: FoundRow[],
  rowsOf: (leads: SearchHit[]) => Promise<FoundRow[]>,
): Promise<FoundRow[]> {
  const least = (hits[0]?.score ?? 0) * MOST.share;
  const best = new Map(
    hits.slice(0, MOST.from).flatMap((hit) => (hit.score >= least ? [[hit.row._id, hit]] : [])),
  );
  const params = { tenant_id, ids: [...best.keys()] };
  const edges = await ctx.call<LeadingEdge[], unknown>("relationships.leading", params).catch(none);
  const known = new Map(hits.map((hit) => [hit.row._id, hit.score]));
  const leads = edges
    .flatMap(({ from, to, type, strength }) => {
      const score = (best.get(from)?.score ?? 0) * STEP * ((1 + strength) / 2);
      const isBetter = score > Math.max(min_score, known.get(to) ?? 0);
      return isBetter ? [{ id: to, score, sources: {}, superseded: false, through: type }] : [];
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  const byId = new Map(leads.toReversed().map((lead) => [lead.id, lead]));
  const added = (await rowsOf([...byId.values()]))
    .filter(({ row }) => row.status === "active")
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
