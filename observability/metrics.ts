// All of prom-client also loads the API of OpenTelemetry, for its metrics of CPU, and clients of a push gateway and a
// cluster: 60 modules that no start needs.
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import eventLoopLag from "prom-client/lib/metrics/eventLoopLag.js";
import gc from "prom-client/lib/metrics/gc.js";
import heapSizeAndUsed from "prom-client/lib/metrics/heapSizeAndUsed.js";
import heapSpacesSizeAndUsed from "prom-client/lib/metrics/heapSpacesSizeAndUsed.js";
import osMemoryHeap from "prom-client/lib/metrics/osMemoryHeap.js";
import processHandles from "prom-client/lib/metrics/processHandles.js";
import processMaxFileDescriptors from "prom-client/lib/metrics/processMaxFileDescriptors.js";
import processOpenFileDescriptors from "prom-client/lib/metrics/processOpenFileDescriptors.js";
import processRequests from "prom-client/lib/metrics/processRequests.js";
import processResources from "prom-client/lib/metrics/processResources.js";
import processStartTime from "prom-client/lib/metrics/processStartTime.js";
import version from "prom-client/lib/metrics/version.js";
import Registry from "prom-client/lib/registry.js";
import { GAUGES, type GaugeName, type NamedGauge, VALUES, type ValueName } from "./gauges.ts";

const registry = new Registry();

/** From a fraction of a millisecond to a long poll. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
  new Counter<Label>({ name: `sensorium_${name}_total`, help, labelNames, registers: [registry] });
const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
  new Gauge<Label>({ name: `sensorium_${name}`, help, labelNames, registers: [registry] });
/** A histogram of durations. */
const seconds = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
  new Histogram<Label>({
    ...{ name: `sensorium_${name}_seconds`, help, labelNames },
    ...{ buckets: SECONDS, registers: [registry] },
  });

/**
 * The node's metrics. Ids of tenants, agents or anything else are never labels, as their number is unlimited, but for
 * the ten tenants that use most.
 */
export const metrics = {
  /** `operation`: the contract's action, or `none`. `status`: the class, `2xx` to `5xx`. Excludes streams. */
  requestSeconds: seconds("http_request_duration", "Time from request to response", ["operation", "status"]),
  requestsInFlight: gauge(
    "http_requests_in_flight",
    "Requests in progress, including waiting polls and open streams",
  ),

  eventsAccepted: counter("events_accepted", "Events accepted"),
  eventsDuplicate: counter("events_duplicate", "Events with a known id"),
  eventsDuplicateSource: counter(
    "events_duplicate_source",
    "Duplicates with another source than the original",
  ),
  eventsDuplicateDiffers: counter(
    "events_duplicate_differs",
    "Duplicates with another source or content than the original",
  ),
  eventsFannedOut: counter("events_fanned_out", "Events fanned out: all their deliveries are enqueued"),
  eventsParked: counter("events_parked", "Events parked after repeated failures to fan out"),
  fanOutLag: seconds("fan_out_lag", "Time from acceptance of an event to the end of its fan-out"),
  workSetAside: counter(
    "work_set_aside",
    "Rows whose background work failed, and is tried again later; the log says why",
    ["collection"],
  ),
  scheduleTicks: counter("schedule_ticks", "Ticks of schedules by outcome: published, failed or missed", [
    "outcome",
  ]),
  scheduleLag: seconds("schedule_lag", "Time from a tick of a schedule to its event"),
  routingLoads: counter("routing_loads", "Routing tables of tenants read as a whole"),
  routingCatchUps: counter("routing_catch_ups", "Routing tables that read only what had changed"),
  filterErrors: counter("filter_errors", "Filter evaluations that failed, which counts as no match"),
  filterSuspensions: counter("filter_suspensions", "Filters suspended because they are too expensive"),

  deliveriesEnqueued: counter("deliveries_enqueued", "Deliveries made"),
  deliveriesHandedOut: counter("deliveries_handed_out", "Delivery attempts, including redeliveries"),
  deliveriesAcknowledged: counter("deliveries_acknowledged", "Deliveries acknowledged"),
  deliveriesNacked: counter("deliveries_nacked", "Deliveries rejected by their receiver"),
  deliveriesDeadLettered: counter("deliveries_dead_lettered", "Deliveries moved to the dead-letter queue"),
  /** `accepted`, `duplicate`, `differs` (a duplicate), `dead_lettered`; `refused` without a valid signature. */
  webhooks: counter("webhooks", "Webhooks received, by outcome", ["outcome"]),
  pushAttempts: counter("push_attempts", "Pushes, by outcome", ["outcome"]),
  pushBreakersOpened: counter(
    "push_breakers_opened",
    "Times that a push endpoint could not be reached any more",
  ),

  limitsCountedHere: counter(
    "limits_counted_here",
    "Requests whose rate limits were counted on this node alone, because Redis did not respond",
  ),

  connectorMessages: counter("connector_messages", "Messages received from brokers, by outcome", ["outcome"]),

  embeddingsMade: counter("embeddings_made", "Vectors computed for searchable texts"),

  /** `resource`: shared among tenants (services/platform/admission). */
  resourceWait: seconds("resource_wait", "Time spent waiting for a resource shared by tenants", ["resource"]),
  resourceRefused: counter(
    "resource_refused",
    "Work refused because its caller had filled the queue of a resource",
    ["resource"],
  ),
  /** `operation`: the contract's action. */
  unreadAnswers: counter(
    "unread_answers",
    "Answers and streams cut off because their connection took nothing for 20 s",
    ["operation"],
  ),

  /** `level`: `warn` or `error`. */
  logSuppressed: counter("log_lines_suppressed", "Repeated log lines that were left out", ["level"]),

  spansLost: counter("trace_spans_lost", "Spans dropped because the collector did not take them"),

  natsDisconnects: counter("nats_disconnects", "Times that the connection to NATS was lost"),
  breakersOpened: counter(
    "circuit_breakers_opened",
    "Times that calls of an action to a node were stopped because it did not answer",
  ),
  /** `action`: the refused one. */
  bulkheadRefused: counter("bulkhead_refused", "Calls refused because too many of the action were waiting", [
    "action",
  ]),

  /** `command`: of MongoDB. `outcome`: `ok` or `error`. */
  recordSeconds: seconds("record_command_duration", "Time from a command to MongoDB to its answer", [
    "command",
    "outcome",
  ]),
  recordWait: seconds("record_connection_wait", "Time that commands waited for a connection to MongoDB"),
  recordNoConnection: counter("record_connection_failures", "Commands that got no connection to MongoDB"),

  storeCommit: seconds("store_commit", "Time from a write to the embedded store to its commit on disk"),
  storeOperations: counter("store_operations", "Writes committed by the embedded store"),
};

const STARTS = [
  ...[processStartTime, osMemoryHeap, processOpenFileDescriptors, processMaxFileDescriptors, eventLoopLag],
  ...[processResources, processHandles, processRequests, heapSizeAndUsed, heapSpacesSizeAndUsed, version, gc],
];

/** Starts the metrics of the process, under prom-client's names: CPU, memory, garbage collection, event loop lag. */
export function startProcessMetrics(): void {
  const cpu = (kind: string, what: string, read: (usage: NodeJS.CpuUsage) => number) =>
    new Counter({
      ...{ name: `process_cpu_${kind}seconds_total`, help: `Total ${what} CPU time spent in seconds.` },
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read(process.cpuUsage()) / 1e6);
      },
    });
  cpu("user_", "user", ({ user }) => user);
  cpu("system_", "system", ({ system }) => system);
  cpu("", "user and system", ({ user, system }) => user + system);
  for (const start of STARTS) start(registry, { eventLoopMonitoringPrecision: 20 });
}

/** Adds a gauge whose values are read on each scrape: value of its label → number. */
export function observeGauge(
  gauge: GaugeName | NamedGauge,
  read: () => Promise<Record<string, number>>,
): void {
  const { name, help, label = "" } = typeof gauge === "string" ? { name: gauge, ...GAUGES[gauge] } : gauge;
  const fullName = `sensorium_${name}`;
  // A node that is restarted in the same process registers its own.
  registry.removeSingleMetric(fullName);
  new Gauge({
    name: fullName,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      // Omit a failing gauge: the other metrics are needed most when something is wrong.
      const values = await read().catch(() => ({}));
      this.reset();
      for (const [value, count] of Object.entries(values)) {
        this.set({ [label]: value }, count);
      }
    },
  });
}

/** Adds a gauge without labels whose value is read on each scrape. */
export function observeValue(name: ValueName, read: () => number | Promise<number>): void {
  const fullName = `sensorium_${name}`;
  registry.removeSingleMetric(fullName);
  new Gauge({
    ...{ name: fullName, help: VALUES[name], registers: [registry] },
    async collect() {
      this.set(await read());
    },
  });
}

/** Returns the values of some of this node's gauges, by name without prefix and by label, which is empty without one. */
export async function readGauges(names: readonly string[]): Promise<Record<string, Record<string, number>>> {
  const read: Record<string, Record<string, number>> = {};
  for (const name of names) {
    const gauge = await registry.getSingleMetric(`sensorium_${name}`)?.get();
    if (!gauge) continue;
    const values = gauge.values.map(({ labels, value }) => [Object.values(labels).join(" "), value]);
    read[name] = Object.fromEntries(values);
  }
  return read;
}

/** Returns all metrics in Prometheus's text format. */
export function exposition(): Promise<string> {
  return registry.metrics();
}
