/** A panel with a line for each series of its queries. */
export interface Panel {
  title: string;
  /** A unit of Grafana. */
  unit: "short" | "s" | "bytes" | "percentunit" | "ops";
  /** PromQL by legend. */
  queries: Record<string, string>;
}

/** A dashboard of Grafana: rows of panels. */
export interface Dashboard {
  uid: string;
  title: string;
  rows: Record<string, Panel[]>;
}

const rate = (name: string) => `sum(rate(sensorium_${name}_total[$__rate_interval]))`;
const quantile = (q: number, name: string, by = "le") =>
  `histogram_quantile(${q}, sum by (${by}) (rate(sensorium_${name}_seconds_bucket[$__rate_interval])))`;
const panel = (title: string, unit: Panel["unit"], queries: Panel["queries"]): Panel => ({
  title,
  unit,
  queries,
});
const quantiles = (title: string, name: string) =>
  panel(title, "s", { median: quantile(0.5, name), "99 of 100": quantile(0.99, name) });

const COMMANDS = "rate(sensorium_record_command_duration_seconds_count[$__rate_interval])";

const TOP_TENANTS = {
  "Processor time (ms)": "cpu_ms",
  Requests: "requests",
  Events: "events",
  Deliveries: "deliveries",
  "Dead letters": "dead_letters",
  Searches: "searches",
  Stored: "stored_bytes",
};

const overview: Dashboard = {
  uid: "sensorium-overview",
  title: "Sensorium: service",
  rows: {
    Service: [
      panel("Nodes that can serve", "short", {
        ready: "sum(sensorium_ready)",
        all: "count(sensorium_ready)",
      }),
      panel("Nodes by version", "short", { "{{version}}": "sum by (version) (sensorium_build_info)" }),
    ],
    Requests: [
      panel("Requests by status", "ops", {
        "{{status}}":
          "sum by (status) (rate(sensorium_http_request_duration_seconds_count[$__rate_interval]))",
      }),
      quantiles("Time to answer", "http_request_duration"),
      panel("Requests in flight", "short", { "{{instance}}": "sensorium_http_requests_in_flight" }),
    ],
    Events: [
      panel("Events", "ops", { accepted: rate("events_accepted"), "fanned out": rate("events_fanned_out") }),
      quantiles("Fan-out lag", "fan_out_lag"),
      panel("Fan-out queue", "short", {
        "{{instance}} events": "sensorium_fan_out_queue_events",
        "{{instance}} tenants with more": "sensorium_fan_out_spilled_tenants",
      }),
      quantiles("Schedule lag", "schedule_lag"),
    ],
    Deliveries: [
      panel("Deliveries", "ops", {
        enqueued: rate("deliveries_enqueued"),
        acknowledged: rate("deliveries_acknowledged"),
        nacked: rate("deliveries_nacked"),
        "dead-lettered": rate("deliveries_dead_lettered"),
      }),
      panel("Pending deliveries", "short", { "{{state}}": "max by (state) (sensorium_deliveries_pending)" }),
      panel("Age of the oldest delivery", "s", {
        "{{state}}": "max by (state) (sensorium_deliveries_oldest_seconds)",
      }),
      panel("Pushes", "ops", {
        "{{outcome}}": "sum by (outcome) (rate(sensorium_push_attempts_total[$__rate_interval]))",
      }),
      panel("Unreachable push endpoints", "short", {
        "{{instance}}": "sensorium_push_breakers_open",
      }),
      panel("Connectors", "short", { "{{state}}": "sum by (state) (sensorium_connectors)" }),
    ],
    Search: [
      panel("Searches and their queries' vectors that wait", "short", {
        "{{resource}}": 'sum by (resource) (sensorium_resource_waiting{resource=~"search|outgoing"})',
      }),
      panel("Refused", "ops", {
        "{{resource}}":
          'sum by (resource) (rate(sensorium_resource_refused_total{resource=~"search|outgoing"}[$__rate_interval]))',
      }),
      panel("Vectors made", "ops", { vectors: rate("embeddings_made") }),
    ],
    Data: [
      panel("Stored", "bytes", { tenants: "max(sensorium_storage_bytes)" }),
      panel("Tenants over quota", "short", { tenants: "max(sensorium_tenants_over_quota)" }),
      panel("Texts without a vector", "short", { "{{instance}}": "sum by (instance) (sensorium_embed_gap)" }),
    ],
    "Tenants with most": Object.entries(TOP_TENANTS).map(([title, kind]) =>
      panel(title, kind === "stored_bytes" ? "bytes" : "short", {
        "{{tenant}}": `max by (tenant) (sensorium_top_tenants_${kind})`,
      }),
    ),
  },
};

const nodes: Dashboard = {
  uid: "sensorium-nodes",
  title: "Sensorium: nodes",
  rows: {
    Process: [
      panel("Up", "short", { "{{instance}}": 'up{job="sensorium"}' }),
      panel("Can serve", "short", { "{{instance}}": "sensorium_ready" }),
      panel("CPU", "percentunit", { "{{instance}}": "rate(process_cpu_seconds_total[$__rate_interval])" }),
      panel("Memory", "bytes", { "{{instance}}": "process_resident_memory_bytes" }),
      panel("Event loop lag", "s", { "{{instance}}": "nodejs_eventloop_lag_p99_seconds" }),
    ],
    "Between nodes": [
      panel("Connected to NATS", "short", { "{{instance}}": "sensorium_nats_connected" }),
      panel("Other nodes", "short", { "{{instance}} {{state}}": "sensorium_peers" }),
      panel("Circuit breakers", "short", { "{{instance}} {{state}}": "sensorium_circuit_breakers" }),
      panel("Calls refused", "ops", {
        "{{action}}": "sum by (action) (rate(sensorium_bulkhead_refused_total[$__rate_interval]))",
      }),
    ],
    MongoDB: [
      panel("Commands", "ops", { "{{command}} {{outcome}}": `sum by (command, outcome) (${COMMANDS})` }),
      panel("Latency, 99 of 100", "s", {
        "{{instance}}": quantile(0.99, "record_command_duration", "instance, le"),
      }),
      panel("Connections", "short", {
        "{{instance}} {{state}}": "sensorium_record_connections",
        "{{instance}} waiting": "sensorium_record_connections_waiting",
      }),
      panel("Clock error", "s", { "{{instance}}": "sensorium_clock_error_seconds" }),
    ],
    "Embedded store": [
      quantiles("Commit", "store_commit"),
      panel("Writes", "ops", { writes: rate("store_operations") }),
      panel("Free disk space", "bytes", {
        "{{instance}}": "sensorium_disk_free_bytes",
        "{{instance}} least": "sensorium_disk_min_free_bytes",
      }),
    ],
  },
};

export const dashboards = [overview, nodes];
