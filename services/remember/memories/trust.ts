import type { Context } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** An edge by which a memory was made of another, as `relationships.derivations` gives it. */
interface Derivation {
  source_memory_id: string;
  target_memory_id: string;
  /** Null: the service itself. */
  created_by: string | null;
}

/** The nearest ancestors decide; a lineage that is longer is cut off. */
const MOST_ANCESTORS = 500;
const PROJECTION = { confidence: 1, agent_id: 1, user_id: 1, superseded_by: 1 } as const;

/**
 * How far a memory is to be trusted: no more than the least certain of all that it was made of, over what it replaced,
 * what was merged into it and what it was derived from. So a doubtful claim gains nothing by being written again.
 */
export async function trustOf(
  memories: TenantCollection<MemoryDoc>,
  ctx: Context,
  doc: MemoryDoc,
): Promise<number> {
  const { tenant_id } = doc;
  let trust = doc.confidence;
  const seen = new Set([doc._id]);
  let generation = [doc];
  while (generation.length > 0 && seen.size < MOST_ANCESTORS) {
    const ids = generation.map(({ _id }) => _id);
    const [edges, replaced] = await Promise.all([
      ctx.call<Derivation[], unknown>("relationships.derivations", { tenant_id, ids }),
      memories.find(
        tenant_id,
        { superseded_by: { $in: ids } },
        { projection: PROJECTION, limit: MOST_ANCESTORS },
      ),
    ]);
    const owners = new Map(generation.map((each) => [each._id, each.agent_id ?? each.user_id]));
    const derived = edges.filter((edge) => isTheOwners(edge, owners)).map((edge) => edge.target_memory_id);
    const others = [...new Set(derived)].filter((id) => !seen.has(id)).slice(0, MOST_ANCESTORS);
    const sources = others.length
      ? await memories.find(tenant_id, { _id: { $in: others } }, { projection: PROJECTION })
      : [];
    generation = [...replaced, ...sources].filter(({ _id }) => !seen.has(_id));
    for (const { _id, confidence } of generation) {
      seen.add(_id);
      trust = Math.min(trust, confidence);
    }
  }
  return trust;
}

/** Others cannot talk a memory's trust down by relating it to something doubtful. */
function isTheOwners({ created_by, source_memory_id }: Derivation, owners: Map<string, string | null>) {
  return created_by === null || created_by === owners.get(source_memory_id);
}
