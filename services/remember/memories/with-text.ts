import { containing } from "../../../lib/text/containing.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type Clause, joined } from "./lanes.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** How many memories one query looks into: so long other readers of the store wait, 5 to 25 ms where each fits. */
const WINDOW = 2_000;
/** How many of each lane a request looks into, from the newest on. */
const MOST_LOOKED_INTO = 100_000;

/** A range of times of creation. */
type Bounds = { $gte?: Date; $lt?: Date };

interface Asked<P> {
  tenant_id: string;
  /** What an index holds in order of creation, each without a part in another. */
  lanes: Clause[][];
  /** What is wanted besides. */
  wanted: Clause[];
  text: string;
  /** What is read of those that hold the text. */
  projection: Partial<Record<keyof MemoryDoc, 1>>;
  /** What to keep of those that were found so far. */
  keep(found: P[]): P[];
}

/**
 * The memories whose title or content holds a text, and how many they are. Only reading tells which do: it is done in
 * short pieces, and comes to an end.
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

/** Ranges that cut a lane into pieces of about so many memories, from the newest on. */
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
