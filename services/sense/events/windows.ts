import type { TenantCollection } from "../../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** Positions: `from` is inclusive, `before` exclusive. */
export interface Range {
  from: string;
  before: string;
}

/** The sort key of a list: a field and its text before the position. */
export interface Order {
  key: "position" | "unmatched_key";
  prefix: string;
}

/**
 * Index entries per query of a list at most: other readers wait that long. The first queries are short, because most
 * lists fill soon.
 */
export const WINDOWS = [2_000, 16_000, 64_000] as const;
/** Limit of queries for a page with results. */
const MOST_LOOKS = 6;
/** Time limit for an empty page: some million events. */
const PATIENCE_MS = 2_000;

/** Decides when a request has searched long enough, however little it found. */
export class Patience {
  readonly #until: number;
  #looks = 0;

  constructor(now = performance.now()) {
    this.#until = now + PATIENCE_MS;
  }

  /** Returns how many entries the next query may examine. */
  get window(): number {
    return WINDOWS[Math.min(this.#looks, WINDOWS.length - 1)] as number;
  }

  /** Call after each query. @returns whether it was the last */
  ends(found: number, now = performance.now()): boolean {
    this.#looks++;
    return found > 0 ? this.#looks >= MOST_LOOKS : now >= this.#until;
  }
}

/** Returns a filter for the events of a range. */
export function within({ key, prefix }: Order, { from, before }: Range): Record<string, unknown> {
  return { [key]: { $gte: prefix + from, $lt: prefix + before } };
}

/** Cuts a range of a tenant's events, from its end backwards, to `size` of them; returns null if it holds no more. */
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
