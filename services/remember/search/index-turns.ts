import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { FairQueue, Share } from "../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import type { InTurn } from "../../../storage/search/protocol.ts";

const MOST_SEARCHES_WAITING = 256;
/** Less than a call between services may take. */
const PATIENCE_MS = 10_000;
/** Entries on their way to the index at once, and waiting. What waits longer is left to be caught up with. */
const WRITING = { capacity: 150, perTenant: 100, maxWaiting: 50_000, patienceMs: 4000 };

/** Divides the index of a node among tenants, and among the callers of each. */
export class IndexTurns {
  readonly #searches: FairQueue;
  readonly #writes = resourceQueue("search_writes", WRITING);

  /** @param capacity searches that the index answers at once: one of them is always left for another tenant */
  constructor(capacity: number) {
    const bounds = { capacity, perTenant: capacity - 1, maxWaiting: MOST_SEARCHES_WAITING };
    this.#searches = resourceQueue("search", { ...bounds, patienceMs: PATIENCE_MS, chargeTime: true });
  }

  searching(share: Share): InTurn {
    return (units, task) => this.#searches.run(share, units, task);
  }

  writing(share: Share): InTurn {
    return (units, task) => this.#writes.run(share, units, task);
  }
}

/** Who a call is made for; what the service does of itself has a share of its own. */
export function shareOf(tenant_id: string, { meta }: Pick<Call, "meta">): Share {
  return { tenant_id, caller: meta.caller ? callerId(meta.caller) : "service" };
}
