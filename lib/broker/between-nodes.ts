import type { BrokerOptions, Context, Errors, Middleware, ServiceBroker } from "moleculer";
import moleculer from "moleculer";

type FailurePolicy = Pick<
  BrokerOptions,
  "retryPolicy" | "circuitBreaker" | "bulkhead" | "internalMiddlewares"
>;

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

/** @param mostInFlight calls of one action on a node at once; as many may queue @param enabled if there are other nodes */
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
    // Leaves out a node that sends heartbeats but answers nothing. See `moleculerMiddlewares`.
    internalMiddlewares: false,
    circuitBreaker: {
      enabled,
      threshold: 0.5,
      minRequestCount: 10,
      windowTime: 10,
      halfOpenTime: 2000,
      check: (err) => isUnanswered(err as Errors.MoleculerError),
    },
    // Many gateways together may admit more calls than one worker can handle.
    bulkhead: { enabled, concurrency: mostInFlight, maxQueueSize: mostInFlight },
  };
}

/** Whether the called node did not answer; not that it answered that another one did not. */
function isUnanswered(err: Errors.MoleculerError & { nodeID?: string }): boolean {
  const { nodeID = null } = (err.data ?? {}) as { nodeID?: string | null };
  return nameOf(err) === "RequestTimeoutError" && (err.nodeID === undefined || err.nodeID === nodeID);
}

/** Of Moleculer, with the little that is used of it. */
interface Inside {
  Middlewares: { CircuitBreaker(broker: ServiceBroker): Middleware };
  ServiceBroker: { INTERNAL_MIDDLEWARES: string[] };
}

/**
 * Returns Moleculer's middlewares, the innermost first, in its order but for the circuit breaker. Moleculer has it within the
 * timeout, so that it sees no call that is not answered, and around a node's own actions: a worker whose calls to others
 * timed out then refused all calls of the cluster, while it was ready.
 */
export function moleculerMiddlewares(): (string | Middleware)[] {
  const { Middlewares, ServiceBroker } = moleculer as unknown as Inside;
  const breaker = (broker: ServiceBroker): Middleware => {
    const { localAction: _, ...ofOthers } = Middlewares.CircuitBreaker(broker);
    return ofOthers;
  };
  return ServiceBroker.INTERNAL_MIDDLEWARES.filter((name) => name !== "CircuitBreaker").flatMap((name) =>
    name === "Timeout" ? [name, breaker as unknown as Middleware] : [name],
  );
}

interface ListedAction {
  name: string;
  endpoints?: { nodeID: string; available: boolean }[];
}

export function listNodes(broker: ServiceBroker, action: string): string[] {
  const listed = broker.registry.actions.list({ withEndpoints: true }) as unknown as ListedAction[];
  const endpoints = listed.find(({ name }) => name === action)?.endpoints ?? [];
  return endpoints.filter(({ available }) => available).map(({ nodeID }) => nodeID);
}

/** Calls an action on each node that offers it. Rejects if one of them fails. */
export function onEveryNode<T>(broker: ServiceBroker, action: string, params: object): Promise<T[]> {
  const nodes = listNodes(broker, action);
  return Promise.all(nodes.map((nodeID) => broker.call<T, object>(action, params, { nodeID })));
}

type Handler = (ctx: Context) => Promise<unknown>;

/** Counts the calls that this node has carried out: a stop looks whether it makes progress. */
export class FinishedCalls {
  count = 0;

  readonly middleware: Middleware = {
    name: "FinishedCalls",
    // Not `finally`, which costs each call two promises more.
    localAction: (next: Handler) => (ctx: Context) =>
      next(ctx).then(
        (answer) => {
          this.count++;
          return answer;
        },
        (err) => {
          this.count++;
          throw err;
        },
      ),
  };
}

/** Characters that one message between nodes takes of rows; each may be some bytes (see `max_payload` of NATS). */
const MESSAGE_CHARACTERS = 2_500_000;
/** Bytes of events in one answer, or in one message between nodes. */
export const MESSAGE_BYTES = 4 * 1_048_576;

/** Returns the first of the rows whose sizes add up to no more than `most`; the very first always. */
export function upToSize<T>(rows: T[], sizeOf: (row: T) => number, most = MESSAGE_CHARACTERS): T[] {
  let size = 0;
  const over = rows.findIndex((row) => {
    size += sizeOf(row);
    return size > most;
  });
  return over < 0 ? rows : rows.slice(0, Math.max(over, 1));
}

/** Yields all rows in pages of that size. */
export function* pagesBySize<T>(rows: T[], sizeOf: (row: T) => number, most: number): Generator<T[]> {
  for (let rest = rows; rest.length > 0; ) {
    const page = upToSize(rest, sizeOf, most);
    yield page;
    rest = rest.slice(page.length);
  }
}
