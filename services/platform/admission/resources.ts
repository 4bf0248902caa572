import { FairQueue, type FairQueueOptions } from "../../../lib/queue/fair-queue.ts";
import { metrics, observeGauge } from "../../../observability/metrics.ts";
import { noteWork } from "../usage/tally.ts";

/** The queues of this process, by resource. */
const queues = new Map<string, FairQueue>();

/**
 * Creates a fair queue with its length, waits and refusals in `/metrics`.
 * @param resource label of its metrics, such as `render`
 */
export function resourceQueue(resource: string, options: FairQueueOptions): FairQueue {
  return watchQueue(resource, new FairQueue(options));
}

/** Shows a queue that is created elsewhere in `/metrics`. */
export function watchQueue(resource: string, queue: FairQueue): FairQueue {
  metrics.resourceWait.zero({ resource });
  const waits = metrics.resourceWait.labels({ resource });
  const refusals = metrics.resourceRefused.labels({ resource });
  queue.observer = {
    waited: (seconds) => waits.observe(seconds),
    refused: () => refusals.inc(),
    // Requests without a token have no tenant.
    charged: (tenant_id, ms) => void (tenant_id && noteWork(tenant_id, ms)),
  };
  queues.set(resource, queue);
  return queue;
}

const read = (pick: (queue: FairQueue) => number) => async () =>
  Object.fromEntries([...queues].map(([resource, queue]) => [resource, pick(queue)]));

observeGauge(
  "resource_waiting",
  read(({ waiting }) => waiting),
);
observeGauge(
  "resource_in_use",
  read(({ inUse }) => inUse),
);
