import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type Clause, joined } from "./lanes.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** Memories per query: other readers of the store wait meanwhile, 5 to 25 ms if all match. */
const WINDOW = 2_000;
/** Memories per lane that a request examines, newest first. */
const MOST_LOOKED_INTO = 100_000;

/** A range of creation times. */
type Bounds = { $gte?: Date; $lt?: Date };

interface Asked<P> {
  tenant_id: string;
  /** Disjoint filters, each served by an index in order of creation. */
  lanes: Clause[][];
  /** Further conditions. */
  wanted: Clause[];
  text: string;
  /** The fields to read of matching memories. */
  projection: Partial<Record<keyof MemoryDoc, 1>>;
  /** Selects which of the matches so far to keep. */
  keep(found: P[]): P[];
}

/**
 * Returns and counts the memories whose title or content contains a text. Only reading finds them, so it reads in small
 * windows and up to a limit.
 */
export async function withText<P>(
  memories: TenantCollection<MemoryDoc>,
  { tenant_id, lanes, wanted, text, projection, keep }: Asked<P>,
): Promise<{ places: P[]; count: number }> {
  const pattern = containing(text);
  const holding = { $or: [{ title: pattern }, { content: pattern }] };
  let places: P[] = [];
  let count = 0;
  for (const lane of lanes) {
    for await (const range of windowsOf(memories, tenant_id, lane)) {
      const filter = joined([...lane, range, ...wanted, holding]);
      const found = (await memories.find(tenant_id, filter, { projection })) as unknown as P[];
      count += found.length;
      places = keep([...places, ...found]);
    }
  }
  return { places, count };
}

const EDGE = { sort: { created_at: -1 }, skip: WINDOW - 1, limit: 1, projection: { created_at: 1 } } as const;

/** Yields ranges that split a lane into windows of about this many memories, newest first. */
async function* windowsOf(
  memories: TenantCollection<MemoryDoc>,
  tenant_id: string,
  lane: Clause[],
): AsyncGenerator<Clause> {
  let older: Bounds = {};
  for (let seen = 0; seen < MOST_LOOKED_INTO; seen += WINDOW) {
    const [edge] = await memories.find(tenant_id, joined([...lane, ranged(older)]), EDGE);
    yield ranged({ ...older, ...(edge && { $gte: edge.created_at }) });
    if (!edge) return;
    older = { $lt: edge.created_at };
  }
}

function ranged(bounds: Bounds): Clause {
  return Object.keys(bounds).length > 0 ? { created_at: bounds } : {};
}
