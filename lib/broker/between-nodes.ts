import type { BrokerOptions } from "moleculer";

/** Calls that go wrong between nodes: what is tried again, given up or turned away. */
type Between = Pick<BrokerOptions, "retryPolicy" | "circuitBreaker" | "bulkhead">;

const nameOf = (err: unknown) => (err as { name?: unknown } | null)?.name;

const UNREACHED: unknown[] = [
  "RequestTimeoutError",
  "RequestRejectedError",
  "ServiceNotFoundError",
  "ServiceNotAvailableError",
];

/** Whether a call got no answer, for want of a node that gives one: whether it was carried out is not known. */
export function isUnreached(err: unknown): boolean {
  return UNREACHED.includes(nameOf(err));
}

/**
 * How a node bears with the others. One process without other nodes needs none of it.
 *
 * @param mostInFlight calls of one action that a node works on at once; as many more wait, others are told to come again
 */
export function betweenNodes(mostInFlight: number): Between {
  return {
    // Only for actions that say they may run twice (`retryPolicy.enabled`). The node that had the call is gone by
    // then and not chosen again. A timeout is not tried again: its caller has waited long enough.
    retryPolicy: {
      enabled: false,
      retries: 3,
      delay: 50,
      factor: 2,
      maxDelay: 500,
      check: (err) => nameOf(err) === "RequestRejectedError",
    },
    // A node that is alive for its heartbeat and answers nothing.
    circuitBreaker: {
      enabled: true,
      threshold: 0.5,
      minRequestCount: 10,
      windowTime: 10,
      halfOpenTime: 2000,
      check: (err) => nameOf(err) === "RequestTimeoutError",
    },
    // What many gateways let in together may be more than one worker can bear.
    bulkhead: { enabled: true, concurrency: mostInFlight, maxQueueSize: mostInFlight },
  };
}
