import type { TenantCollection } from "../../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** Positions: the first is in it, the second behind its end. */
export interface Range {
  from: string;
  before: string;
}

/** What a list is ordered by: a field, and what stands in it before the position. */
export interface Order {
  key: "position" | "unmatched_key";
  prefix: string;
}

/**
 * How many index entries one look at a list passes over at the most: so long other readers wait. The first looks are
 * short, because most lists are full soon.
 */
export const WINDOWS = [2_000, 16_000, 64_000] as const;
/** A page that has something ends after so many looks. */
const MOST_LOOKS = 6;
/** One that is empty goes on for so long: that is some million events. */
const PATIENCE_MS = 2_000;

/** Says when a request has looked for long enough, however little it has found. */
export class Patience {
  readonly #until: number;
  #looks = 0;

  constructor(now = performance.now()) {
    this.#until = now + PATIENCE_MS;
  }

  /** How many entries the next look may pass over. */
  get window(): number {
    return WINDOWS[Math.min(this.#looks, WINDOWS.length - 1)] as number;
  }

  /** After each look. @returns whether it was the last */
  ends(found: number, now = performance.now()): boolean {
    this.#looks++;
    return found > 0 ? this.#looks >= MOST_LOOKS : now >= this.#until;
  }
}

/** The events of a range, as a filter. */
export function within({ key, prefix }: Order, { from, before }: Range): Record<string, unknown> {
  return { [key]: { $gte: prefix + from, $lt: prefix + before } };
}

/** Cuts a range of a tenant's events, from its end backwards, to `size` of them; null when it holds no more. */
export async function windowOf(
  events: TenantCollection<EventDoc>,
  tenant_id: string,
  order: Order,
  range: Range,
  size: number,
): Promise<Pick<Range, "from"> | null> {
  const options = {
    sort: { [order.key]: -1 as const },
    skip: size - 1,
    limit: 1,
    projection: { position: 1 as const },
  };
  const [edge] = await events.find(tenant_id, within(order, range), options);
  return edge ? { from: edge.position } : null;
}
