/** A gauge whose values are read on each scrape. */
export interface NamedGauge {
  name: string;
  help: string;
  /** Its values have one, with few values. */
  label?: string;
}

const topTenants = (use: string, when = "in this hour and the one before") => ({
  help: `${use} of the ten tenants with most, ${when}`,
  label: "tenant",
});

/** The gauges of the core that have one value, by their names without prefix: what each is. */
export const VALUES = {
  bulkhead_limit: "Calls of an action that may run at once, and as many wait",
  clock_error_seconds: "How far this node's knowledge of the record's time may be wrong, either way",
  clock_offset_seconds: "How far the record's clock is ahead of this machine's",
  disk_free_bytes: "Free space on the disk of DATA_DIR",
  disk_min_free_bytes: "Least free space: with less, the embedded store refuses writes",
  fan_out_batches: "Batches of events being fanned out",
  fan_out_queue_bytes: "Size of these events",
  fan_out_queue_events: "Events in this node's memory whose fan-out is waiting or in progress",
  fan_out_spilled_tenants: "Tenants with more events than fit into memory; the rest waits in the record",
  nats_connected: "1 while this node is connected to NATS, else 0",
  peer_calls_in_flight: "Calls to other nodes that wait for an answer",
  push_breakers_open: "Agents whose push endpoint could not be reached: only probes are sent",
  ready: "1 while this node can serve requests, as /readyz says, else 0",
  record_connections_limit: "Most connections to each server of MongoDB",
  record_connections_waiting: "Commands that wait for a connection to MongoDB",
  search_index_behind:
    "Tenants' kinds of entries whose latest changes the index did not take and has not fetched since",
  services_missing: "Services that no node runs: what needs them is answered with 503",
} as const;

/** Those with a value for each value of a label. */
export const GAUGES = {
  build_info: { help: "1, with the version of this node", label: "version" },
  bulkhead_running: { help: "Calls running on this node, by action", label: "action" },
  bulkhead_waiting: { help: "Calls waiting for others of the same action", label: "action" },
  circuit_breakers: {
    help: "Actions on other nodes that get no calls (open) or one at a time (half open), because they did not answer",
    label: "state",
  },
  connectors: { help: "Connectors on this node by state", label: "state" },
  deliveries_oldest_seconds: {
    help: "Age of the oldest delivery that waits for its receiver",
    label: "state",
  },
  deliveries_pending: { help: "Deliveries that are neither acknowledged nor dead-lettered", label: "state" },
  embed_gap: { help: "Search entries without a vector", label: "of" },
  limits_shared: { help: "1 while rate limits are counted for all nodes", label: "by" },
  peers: {
    help: "Other nodes that this one has seen and that did not say goodbye, by whether they are there now",
    label: "state",
  },
  push_targets: { help: "Agents to which this node pushes", label: "by" },
  record_connections: { help: "Connections to MongoDB, by use", label: "state" },
  resource_in_use: { help: "Units of a resource in use", label: "resource" },
  resource_waiting: { help: "Units of work waiting for a resource", label: "resource" },
  secrets_to_encrypt: {
    help: "Rows whose secrets are yet to be encrypted with the active SECRET_KEY, while it is replaced",
    label: "collection",
  },
  storage_bytes: { help: "Bytes stored by all tenants, without indexes", label: "of" },
  tenants_over_quota: { help: "Tenants that have reached their storage quota", label: "quota" },
  thread_external_bytes: { help: "Buffers outside the JavaScript heap, by thread", label: "thread" },
  thread_heap_size_bytes: { help: "JavaScript heap reserved, by thread", label: "thread" },
  thread_heap_used_bytes: { help: "JavaScript heap in use, by thread", label: "thread" },
  threads: { help: "Threads, by purpose", label: "thread" },
  top_tenants_cpu_ms: topTenants("cpu_ms"),
  top_tenants_dead_letters: topTenants("dead_letters"),
  top_tenants_deliveries: topTenants("deliveries"),
  top_tenants_events: topTenants("events"),
  top_tenants_requests: topTenants("requests"),
  top_tenants_searches: topTenants("searches"),
  top_tenants_stored_bytes: topTenants("stored_bytes", "now"),
  store_bytes: { help: "Size of the embedded store's file", label: "of" },
} as const satisfies Record<string, Omit<NamedGauge, "name">>;

export type ValueName = keyof typeof VALUES;
export type GaugeName = keyof typeof GAUGES;
