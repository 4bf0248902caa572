import type { BrokerOptions, Errors, Middleware, ServiceBroker } from "moleculer";
import type { Health } from "./health.ts";
import type { Log } from "./log.ts";
import { metrics, observeGauge, observeValue } from "./metrics.ts";

/** The state of a node's calls to others that Moleculer keeps, with the little that is used of it. */
interface Inside {
  /** State of the circuit breakers by action and node. */
  CircuitBreakerStore?: Map<string, { state: "close" | "half_open" | "half_open_wait" | "open" }>;
  transit: { pendingRequests: Map<string, unknown> } | null;
  metrics: { set(name: string, value: number, labels?: { action?: string }): void };
  localBus: { on(event: string, handler: (departed: Departed) => void): void };
}

/** A node that is no longer there. If it said so, that is expected. */
interface Departed {
  node: RegistryNode;
  unexpected: boolean;
}

interface RegistryNode {
  local: boolean;
  available: boolean;
}

/** Calls of an action on this node, as its bulkhead reports them. */
interface Calls {
  running: number;
  waiting: number;
}

const RUNNING = "moleculer.request.bulkhead.inflight";
const WAITING = "moleculer.request.bulkhead.queue.size";

/**
 * Moleculer's middleware that shows in `/metrics` which nodes this one sees, its circuit breakers and its bulkheads.
 * Moleculer has such metrics, but would measure every call besides.
 */
export function observePeers(broker: ServiceBroker): Middleware {
  const inside = broker as unknown as Inside;
  const calls = new Map<string, Calls>();
  const callsOf = (action: string): Calls => {
    const known = calls.get(action) ?? { running: 0, waiting: 0 };
    calls.set(action, known);
    return known;
  };
  const { concurrency = 0 } = broker.options.bulkhead ?? {};
  return {
    name: "Peers in metrics",
    created() {
      observeRegistry(broker, inside);
      observeBreakers(broker, inside);
      const busy = async (pick: (calls: Calls) => number) =>
        Object.fromEntries([...calls].map(([action, each]) => [action, pick(each)]));
      observeGauge("bulkhead_running", () => busy(({ running }) => running));
      observeGauge("bulkhead_waiting", () => busy(({ waiting }) => waiting));
      observeValue("bulkhead_limit", () => concurrency);
      // The bulkhead's reports when Moleculer's metrics are on.
      inside.metrics.set = (name, value, { action = "" } = {}) => {
        if (name === RUNNING) callsOf(action).running = value;
        else if (name === WAITING) callsOf(action).waiting = value;
      };
    },
  } as Middleware;
}

/** Moleculer's `errorHandler`: counts the calls that a bulkhead of this node refused, and leaves every error as it is. */
export const countRefused: BrokerOptions["errorHandler"] = (err, info) => {
  const { name, data } = err as Errors.MoleculerError;
  // Without a service another node refused it; the action may also have failed because one that it called was refused.
  if (name === "QueueIsFullError" && "action" in info && info.service) {
    const { action } = data as { action: string };
    if (action === info.action?.name) metrics.bulkheadRefused.inc({ action });
  }
  throw err;
};

function observeRegistry({ registry }: ServiceBroker, { transit, localBus }: Inside): void {
  // Moleculer keeps them for ten minutes, too: each upgrade would leave lost nodes.
  const left = new WeakSet<RegistryNode>();
  localBus.on("$node.disconnected", ({ node, unexpected }) => {
    if (unexpected) left.delete(node);
    else left.add(node);
  });
  observeGauge("peers", async () => {
    const peers = (registry.nodes.toArray() as RegistryNode[]).filter(({ local }) => !local);
    const available = peers.filter((node) => node.available).length;
    const lost = peers.filter((node) => !node.available && !left.has(node)).length;
    return { available, lost };
  });
  observeValue("peer_calls_in_flight", () => (transit ? transit.pendingRequests.size : 0));
}

function observeBreakers(broker: ServiceBroker, inside: Inside): void {
  observeGauge("circuit_breakers", async () => {
    const states = [...(inside.CircuitBreakerStore?.values() ?? [])].map(({ state }) => state);
    const open = states.filter((state) => state === "open").length;
    const closed = states.filter((state) => state === "close").length;
    return { open, half_open: states.length - open - closed };
  });
  // Other nodes' breakers are not on this bus.
  broker.localBus.on("$circuit-breaker.opened", () => metrics.breakersOpened.inc());
}

/** Shows whether this node is connected to NATS: in readiness, metrics and the log. Call the result with each change. */
export function observeNats({ health, log }: { health: Health; log: Log }): (isConnected: boolean) => void {
  /** When the connection was lost; null while it holds, undefined before there was one. */
  let lostAt: number | null | undefined;
  const away = () => Math.round((performance.now() - (lostAt ?? 0)) / 1000);
  observeValue("nats_connected", () => Number(lostAt === null));
  health.remark("nats", () => {
    if (lostAt === undefined) return "not connected yet";
    return lostAt === null ? null : `not connected for ${away()} s: this node reaches no other`;
  });
  return (isConnected) => {
    if (isConnected) {
      if (lostAt) log.info({ away_seconds: away() }, "NATS is back");
      lostAt = null;
    } else if (lostAt === null) {
      lostAt = performance.now();
      metrics.natsDisconnects.inc();
      log.warn("NATS is lost: this node reaches no other until it is back");
    }
  };
}
