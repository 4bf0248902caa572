import { operations } from "../../../services/contracts.ts";

/** An alert of Prometheus. Its runbook is `docs/runbooks/<runbook>.md`. */
export interface Alert {
  name: string;
  /** `critical`: somebody has to act now. `warning`: in working hours. */
  severity: "critical" | "warning";
  expr: string;
  /** How long the expression must hold. */
  for: string;
  /** One sentence with what is wrong; `{{ $labels.instance }}` and `{{ $value }}` are filled in. */
  summary: string;
  runbook: string;
}

const SECONDS = "sensorium_http_request_duration_seconds";
const HTTP = `${SECONDS}_count`;
const COMMANDS = "sensorium_record_command_duration_seconds";
const FAILED = `${HTTP}{status="5xx"}`;
/** Polls wait for what comes: their time says nothing. */
const ANSWERED = `{operation!~"${operations.flatMap(({ action, waits }) => (waits ? [action] : [])).join("|")}"}`;
/** Deliveries that wait for their receivers. One node counts those of all: another when it leaves. */
const READY = 'max(sensorium_deliveries_pending{state="ready"})';
const OLDEST = 'max(sensorium_deliveries_oldest_seconds{state="ready"})';
const DEAD = (time: string) => `sum(increase(sensorium_deliveries_dead_lettered_total[${time}]))`;

/** Alerts for symptoms that need a person. Faults that the server repairs by itself get time for it. */
export const alerts: Alert[] = [
  {
    name: "SensoriumDown",
    severity: "critical",
    // Without any node there is no series at all.
    expr: "sum(sensorium_ready) == 0 or absent(sensorium_ready)",
    for: "1m",
    summary: "No node can serve requests.",
    runbook: "down",
  },
  {
    name: "SensoriumNodeDown",
    severity: "critical",
    expr: 'up{job="sensorium"} == 0',
    for: "2m",
    summary: "{{ $labels.instance }} does not answer.",
    runbook: "node-down",
  },
  {
    name: "SensoriumNodeNotReady",
    severity: "warning",
    expr: "sensorium_ready == 0",
    for: "5m",
    summary: "{{ $labels.instance }} cannot serve requests.",
    runbook: "node-not-ready",
  },
  {
    name: "SensoriumPeersLost",
    severity: "warning",
    // A node that does not return is forgotten after ten minutes.
    expr: 'sensorium_peers{state="lost"} > 0',
    for: "5m",
    summary: "{{ $labels.instance }} has lost {{ $value }} other nodes.",
    runbook: "peers-lost",
  },
  {
    name: "SensoriumServicesMissing",
    severity: "warning",
    expr: "sensorium_services_missing > 0",
    for: "10m",
    summary: "{{ $labels.instance }} sees no node that runs {{ $value }} of the services.",
    runbook: "services-missing",
  },
  {
    name: "SensoriumVersionsDiffer",
    severity: "warning",
    expr: "count(count by (version) (sensorium_build_info)) > 1",
    for: "2h",
    summary: "Nodes of {{ $value }} versions run side by side: an upgrade or a rollback did not end.",
    runbook: "versions-differ",
  },
  {
    name: "SensoriumRequestsFailing",
    severity: "critical",
    // In a quiet minute two failed requests are many, and no reason to wake anybody.
    expr: `sum(rate(${FAILED}[5m])) / sum(rate(${HTTP}[5m])) > 0.05 and sum(increase(${FAILED}[5m])) >= 20`,
    for: "5m",
    summary: "{{ $value | humanizePercentage }} of requests fail with a server error.",
    runbook: "requests-failing",
  },
  {
    name: "SensoriumRequestsSlow",
    severity: "warning",
    expr: [
      `histogram_quantile(0.95, sum by (le) (rate(${SECONDS}_bucket${ANSWERED}[5m]))) > 1`,
      `and sum(increase(${HTTP}${ANSWERED}[5m])) >= 100`,
    ].join("\n"),
    for: "10m",
    summary: "1 of 20 requests takes over {{ $value | humanizeDuration }}.",
    runbook: "requests-slow",
  },
  {
    name: "SensoriumNatsDisconnected",
    severity: "critical",
    expr: "sensorium_nats_connected == 0",
    for: "1m",
    summary: "{{ $labels.instance }} is not connected to NATS and reaches no other node.",
    runbook: "nats-disconnected",
  },
  {
    name: "SensoriumMongoUnavailable",
    severity: "critical",
    // Each node reads MongoDB's clock every two seconds.
    expr: `sum by (instance) (rate(${COMMANDS}_count{outcome="ok"}[2m])) == 0`,
    for: "1m",
    summary: "MongoDB answers no command of {{ $labels.instance }}.",
    runbook: "mongodb-unavailable",
  },
  {
    name: "SensoriumMongoSlow",
    severity: "warning",
    expr: `histogram_quantile(0.99, sum by (instance, le) (rate(${COMMANDS}_bucket[5m]))) > 0.5`,
    for: "10m",
    summary:
      "1 of 100 commands of {{ $labels.instance }} to MongoDB takes over {{ $value | humanizeDuration }}.",
    runbook: "mongodb-slow",
  },
  {
    name: "SensoriumClockUncertain",
    severity: "warning",
    expr: "sensorium_clock_error_seconds > 0.1",
    for: "5m",
    summary: "{{ $labels.instance }} knows MongoDB's time to within {{ $value | humanizeDuration }} only.",
    runbook: "clock-uncertain",
  },
  {
    name: "SensoriumDiskNearlyFull",
    severity: "critical",
    expr: "sensorium_disk_free_bytes < 2 * sensorium_disk_min_free_bytes",
    for: "1m",
    summary:
      "{{ $labels.instance }} has {{ $value | humanize1024 }}B free: soon it can store, or index, nothing more.",
    runbook: "disk-nearly-full",
  },
  {
    name: "SensoriumSearchIndexBehind",
    severity: "critical",
    expr: "sensorium_search_index_behind > 0",
    for: "2m",
    summary: "{{ $labels.instance }} cannot write its search index: searches lack the latest changes.",
    runbook: "search-index-behind",
  },
  {
    name: "SensoriumFanOutBehind",
    severity: "warning",
    expr: [
      "histogram_quantile(0.99, sum by (le) (rate(sensorium_fan_out_lag_seconds_bucket[5m]))) > 10",
      "or max(sensorium_fan_out_spilled_tenants) > 0",
    ].join("\n"),
    for: "10m",
    summary: "Events wait for their deliveries: fan-out is slower than publishing.",
    runbook: "fan-out-behind",
  },
  {
    name: "SensoriumEventsParked",
    severity: "warning",
    expr: "sum(increase(sensorium_events_parked_total[15m])) > 0",
    for: "0m",
    summary: "Events were set aside because their fan-out failed repeatedly.",
    runbook: "events-parked",
  },
  {
    name: "SensoriumDeliveriesDeadLettered",
    severity: "warning",
    // Single ones are the business of their team, which sees them in the console.
    expr: `${DEAD("15m")} >= 10\nor ${DEAD("6h")} >= 30`,
    for: "0m",
    summary: "{{ $value | humanize }} deliveries were dead-lettered in the last minutes or hours.",
    runbook: "deliveries-dead-lettered",
  },
  {
    name: "SensoriumDeliveriesDelayed",
    severity: "warning",
    expr: [
      `${READY} > 1000 and ${READY} > 1.1 * ${READY.replace(")", " offset 15m)")}`,
      // Slowly: the fewest of this hour are more than the most of one hour two hours ago.
      `or ${READY} > 1000 and min_over_time(${READY}[1h:5m]) > max_over_time(${READY}[1h:5m] offset 2h)`,
      // Few, of an agent that does not come: one that comes daily takes them within a day.
      `or ${READY} >= 100 and ${OLDEST} > 24 * 3600`,
    ].join("\n"),
    for: "15m",
    summary: "{{ $value | humanize }} deliveries wait for their receivers: more and more, or for over a day.",
    runbook: "deliveries-delayed",
  },
  {
    name: "SensoriumConnectorNotConsuming",
    severity: "warning",
    expr: 'sum by (instance) (sensorium_connectors{state=~"connecting|retrying|failed"}) > 0',
    for: "10m",
    summary: "{{ $value }} connectors on {{ $labels.instance }} do not consume.",
    runbook: "connector-not-consuming",
  },
  {
    name: "SensoriumPushEndpointsUnreachable",
    severity: "warning",
    expr: "sum(sensorium_push_breakers_open) > 0",
    for: "30m",
    summary: "{{ $value }} agents' push endpoints have not been reached for half an hour.",
    runbook: "push-endpoints-unreachable",
  },
  {
    name: "SensoriumSchedulesMissed",
    severity: "warning",
    expr: 'sum(increase(sensorium_schedule_ticks_total{outcome="missed"}[15m])) > 0',
    for: "0m",
    summary: "Schedules did not publish at their time, because no node was there to do it.",
    runbook: "schedules-missed",
  },
  {
    name: "SensoriumEmbeddingBehind",
    severity: "warning",
    expr: "sum(sensorium_embed_gap) > 1000\nand sum(sensorium_embed_gap) >= sum(sensorium_embed_gap offset 15m)",
    for: "15m",
    summary: "{{ $value | humanize }} texts have no vector, and not fewer: they are found by words only.",
    runbook: "embedding-behind",
  },
  {
    name: "SensoriumLimitsNotShared",
    severity: "warning",
    expr: "sensorium_limits_shared == 0",
    for: "5m",
    summary: "{{ $labels.instance }} counts limits alone because Redis does not answer.",
    runbook: "limits-not-shared",
  },
  {
    name: "SensoriumTracesLost",
    severity: "warning",
    expr: "sum by (instance) (rate(sensorium_trace_spans_lost_total[5m])) > 0",
    for: "5m",
    summary: "{{ $labels.instance }} cannot export traces; their collector does not answer.",
    runbook: "traces-lost",
  },
];
