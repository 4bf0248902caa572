import type { TenantCollection } from "../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** Positions: the first is in it, the second behind its end. */
export interface Range {
  from: string;
  before: string;
}

/**
 * How many index entries one look at a list passes over at the most. The first looks are short, because most lists are
 * full soon; a request ends after the last, so that one for what is rare does not hold up all other readers.
 */
export const WINDOWS = [2_000, 16_000, 64_000, 64_000, 64_000, 64_000] as const;

/**
 * Cuts a range of a tenant's events, from its end backwards, to as many as the given look may pass over; null when it
 * holds no more than these.
 */
export async function windowOf(
  events: TenantCollection<EventDoc>,
  tenant_id: string,
  { from, before }: Range,
  look: number,
): Promise<Pick<Range, "from"> | null> {
  const skip = (WINDOWS[look] as number) - 1;
  const range = { position: { $gte: from, $lt: before } } as never;
  const options = { sort: { position: -1 }, skip, limit: 1, projection: { position: 1 } } as const;
  const [edge] = await events.find(tenant_id, range, options);
  return edge ? { from: edge.position } : null;
}
