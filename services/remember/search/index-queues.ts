import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { FairQueue, Share } from "../../../lib/queue/fair-queue.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import type { TaskRunner } from "../../../storage/search/protocol.ts";

const MOST_SEARCHES_WAITING = 256;
/** Less than the timeout of a call between services. */
const PATIENCE_MS = 10_000;
/** Limits of concurrent and waiting writes of entries. Those that wait longer are left to the catch-up. */
const WRITING = { capacity: 150, perTenant: 100, maxWaiting: 50_000, patienceMs: 4000 };

/** Shares a node's index among tenants, and among the callers of each. */
export class IndexQueues {
  readonly #searches: FairQueue;
  readonly #writes = resourceQueue("search_writes", WRITING);

  /** @param capacity concurrent searches of the index: one is always reserved for another tenant */
  constructor(capacity: number) {
    const bounds = { capacity, perTenant: capacity - 1, maxWaiting: MOST_SEARCHES_WAITING };
    this.#searches = resourceQueue("search", { ...bounds, patienceMs: PATIENCE_MS, chargeTime: true });
  }

  searching(share: Share): TaskRunner {
    return (units, task) => this.#searches.run(share, units, task);
  }

  writing(share: Share): TaskRunner {
    return (units, task) => this.#writes.run(share, units, task);
  }
}

/** Returns whom a call is made for; the service's own calls have a separate share. */
export function shareOf(tenant_id: string, { meta }: Pick<Call, "meta">): Share {
  return { tenant_id, caller: meta.caller ? callerId(meta.caller) : "service" };
}
