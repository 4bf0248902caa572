import type { RequestContext } from "../../../lib/access/caller.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** A derivation edge between memories, from `relationships.derivations`. */
interface Derivation {
  source_memory_id: string;
  target_memory_id: string;
  /** Null: the service itself. */
  created_by: string | null;
}

/** Limits the lineage to the nearest ancestors. */
const MOST_ANCESTORS = 500;
const PROJECTION = { confidence: 1, agent_id: 1, user_id: 1, superseded_by: 1 } as const;

/**
 * Returns a memory's trust: the lowest confidence among all it was made of, including replaced, merged and derived-from
 * memories. Rewriting a doubtful claim therefore gains no trust.
 */
export async function computeTrust(
  memories: TenantCollection<MemoryDoc>,
  ctx: RequestContext,
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

/** Whether the owner created the edge: others cannot lower a memory's trust by relating it to something doubtful. */
function isTheOwners({ created_by, source_memory_id }: Derivation, owners: Map<string, string | null>) {
  return created_by === null || created_by === owners.get(source_memory_id);
}
