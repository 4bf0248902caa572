import type { RequestContext } from "../../../lib/access/caller.ts";
import { type Access, mayRead } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import type { SearchFind, SearchFound, SearchHit, SearchWhere } from "../../../storage/search/entry.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import type { CallOf } from "../../runtime.ts";
import { type ChunkDoc, type OutputDoc, present } from "./outputs.model.ts";
import { BRIEF, type Outputs } from "./outputs.ts";
import type { searchOutputs } from "./search.contract.ts";

/** Maximum hits of all legs of a search. */
const MOST_HITS = 400;
/** Maximum repetitions of a search in which a few long texts filled the hits. */
const MOST_ROUNDS = 4;

/** An output with the score and id of its best matching chunk. */
type Hit = OutputDoc & Best;

interface Wanted extends ParamsOf<typeof searchOutputs>, Pick<SearchWhere, "times"> {
  limit: number;
}

/** Handles `POST /outputs/search`. */
export async function search(outputs: Outputs, ctx: CallOf<typeof searchOutputs>) {
  const { tenant_id } = ctx.meta.caller;
  const { limit = 10 } = ctx.params;
  const { hits, degraded } = await findOutputs(outputs, ctx, { ...ctx.params, limit });
  const ids = hits.slice(0, limit).map(({ _id }) => _id);
  const whole = new Map((await outputs.rows.findEach(tenant_id, ids)).map((doc) => [doc._id, doc]));
  const wholes = hits.filter(({ _id }) => whole.has(_id));
  const passages = await loadPassages(outputs, tenant_id, wholes);
  return {
    results: wholes.map((hit) => ({
      kind: "output" as const,
      output: present({ ...hit, ...(whole.get(hit._id) as OutputDoc) }),
      score: hit.score,
      passage: passages.get(hit.chunk_id) ?? "",
      superseded: hit.superseded_by !== null,
    })),
    total_candidates: hits.length,
    no_match: wholes.length === 0,
    degraded: degraded.length > 0,
    degraded_reasons: degraded,
  };
}

/** Returns matching outputs, best first, each once. Checks the index's hits against the rows. */
export async function findOutputs(outputs: Outputs, ctx: RequestContext, wanted: Wanted) {
  const { tenant_id } = ctx.meta.caller;
  const access = await ownerAccess(ctx);
  const archived = wanted.include_archived
    ? []
    : await ctx.call<string[], object>("projects.archived", { tenant_id });
  const hits = new Map<string, Hit>();
  const seen = new Set<string>();
  let degraded: string[] = [];
  for (let round = 0; round < MOST_ROUNDS && hits.size < wanted.limit; round++) {
    const except = { types: [...seen], project_ids: archived };
    const result = await ctx.call<SearchFound, SearchFind>(
      "search.find",
      ask(wanted, access, tenant_id, except),
    );
    degraded = result.degraded;
    const best = bestByOutput(result);
    for (const id of best.keys()) seen.add(id);
    const projection = BRIEF;
    const filter = { _id: { $in: [...best.keys()] } };
    for (const doc of await outputs.rows.find(tenant_id, filter, { projection })) {
      if (isToBeFound(doc, access, wanted, archived))
        hits.set(doc._id, { ...doc, ...(best.get(doc._id) as Best) });
    }
    // Fewer than a leg's minimum: there are no others.
    if (result.total_candidates < ENOUGH || best.size === 0) break;
  }
  return { hits: ranked([...hits.values()]), degraded };
}

/** A leg of the index returns fewer hits only if there are no more. */
const ENOUGH = 50;

function ask(
  wanted: Wanted,
  access: Access,
  tenant_id: string,
  except: NonNullable<SearchWhere["except"]>,
): SearchFind {
  const { query, scope, project_id, min_score, include_superseded = false, times } = wanted;
  const project = project_id === "" ? null : project_id;
  return {
    ...{ tenant_id, kind: "output", query, access, include_superseded, limit: MOST_HITS, min_score },
    where: { except, scope, project_id: project, times },
  };
}

interface Best extends Pick<SearchHit, "score" | "sources"> {
  chunk_id: string;
}

/** Returns the best chunk of each output. Hits come best first. */
function bestByOutput({ hits }: SearchFound): Map<string, Best> {
  const best = new Map<string, Best>();
  for (const { id, score, sources } of hits) {
    const [output_id] = id.split("/") as [string];
    if (!best.has(output_id)) best.set(output_id, { score, sources, chunk_id: id });
  }
  return best;
}

function isToBeFound(doc: OutputDoc, access: Access, wanted: Wanted, archived: readonly string[]): boolean {
  const { scope, project_id, include_superseded } = wanted;
  if (doc.deleted_at || !mayRead(access, doc)) return false;
  if (doc.superseded_by !== null && !include_superseded) return false;
  if (doc.project_id !== null && archived.includes(doc.project_id)) return false;
  if (scope !== undefined && doc.scope !== scope) return false;
  return project_id === undefined || doc.project_id === (project_id || null);
}

/** Returns the texts of the chunks that were found. */
export async function loadPassages(
  { chunks }: Outputs,
  tenant_id: string,
  hits: readonly Pick<Best, "chunk_id">[],
) {
  const ids = hits.map(({ chunk_id }) => chunk_id);
  const rows = await chunks.find(
    tenant_id,
    { _id: { $in: ids } },
    { projection: { text: 1 }, bounded: "texts of one answer" },
  );
  return new Map(rows.map(({ _id, text }: Pick<ChunkDoc, "_id" | "text">) => [_id, text]));
}

/** An output that a search found. */
type OutputHit = Pick<OutputDoc, "_id" | "superseded_by"> & { score: number };

/** Sorts best first, with a superseded output below its successor if both were found (spec: search outputs). */
export function ranked<T extends OutputHit>(hits: readonly T[]): T[] {
  const byId = new Map(hits.map((each) => [each._id, each]));
  const placed = hits.map((each) => ({ each, ...placeOf(each, byId) }));
  placed.sort((a, b) => b.score - a.score || a.depth - b.depth);
  return placed.map(({ each, score }) => ({ ...each, score }));
}

function placeOf(hit: OutputHit, byId: ReadonlyMap<string, OutputHit>): { score: number; depth: number } {
  let { score } = hit;
  const above = new Set([hit._id]);
  for (let next = newer(hit, byId); next && !above.has(next._id); next = newer(next, byId)) {
    above.add(next._id);
    score = Math.min(score, next.score);
  }
  return { score, depth: above.size };
}

function newer({ superseded_by }: OutputHit, byId: ReadonlyMap<string, OutputHit>): OutputHit | undefined {
  return superseded_by === null ? undefined : byId.get(superseded_by);
}
