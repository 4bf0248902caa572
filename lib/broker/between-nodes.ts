import type { BrokerOptions } from "moleculer";

/** Options for failing calls between nodes. */
type FailurePolicy = Pick<BrokerOptions, "retryPolicy" | "circuitBreaker" | "bulkhead">;

const nameOf = (err: unknown) => (err as { name?: unknown } | null)?.name;

const UNREACHED: unknown[] = [
  "RequestTimeoutError",
  "RequestRejectedError",
  "ServiceNotFoundError",
  "ServiceNotAvailableError",
];

/** Whether a call failed because no node answered. Its execution is then unknown. */
export function isUnreached(err: unknown): boolean {
  return UNREACHED.includes(nameOf(err));
}

/**
 * Returns the retry, circuit breaker and bulkhead options for calls between nodes.
 *
 * @param mostInFlight concurrent calls of one action on a node; as many more may queue, others are refused
 * @param enabled whether there are other nodes
 */
export function betweenNodes(mostInFlight: number, enabled: boolean): FailurePolicy {
  return {
    // Only for actions that may run twice (`retryPolicy.enabled`). The failed node is no longer in the registry, so
    // another one is chosen. Timeouts are not retried: the caller has waited long enough.
    retryPolicy: {
      enabled: false,
      retries: 3,
      delay: 50,
      factor: 2,
      maxDelay: 500,
      check: (err) => nameOf(err) === "RequestRejectedError",
    },
    // Leaves out a node that sends heartbeats but answers nothing.
    circuitBreaker: {
      enabled,
      threshold: 0.5,
      minRequestCount: 10,
      windowTime: 10,
      halfOpenTime: 2000,
      check: (err) => nameOf(err) === "RequestTimeoutError",
    },
    // Many gateways together may admit more calls than one worker can handle.
    bulkhead: { enabled, concurrency: mostInFlight, maxQueueSize: mostInFlight },
  };
}
