import type { ServiceBroker } from "moleculer";
import { buildVersion } from "../../../lib/version.ts";
import { readGauges } from "../../../observability/metrics.ts";
import type { Runtime } from "../../runtime.ts";
import type { NodeReport, Problem } from "./nodes.contract.ts";

const GAUGES = [
  "clock_error_seconds",
  "peers",
  "circuit_breakers",
  "nats_connected",
  "limits_shared",
  "embed_gap",
  "fan_out_queue_events",
  "resource_waiting",
];

/** Returns what this node says of itself. */
export async function reportNode(
  { health, disk, modes, log }: Runtime,
  broker: ServiceBroker,
  started_at: string,
): Promise<NodeReport> {
  const [{ status, checks }, gauges] = await Promise.all([health.report(), readGauges(GAUGES)]);
  const one = (name: string): number | undefined => Object.values(gauges[name] ?? {})[0];
  const isOn = (name: string) => {
    const value = one(name);
    return value === undefined ? null : value === 1;
  };
  const waiting = Object.entries(gauges.resource_waiting ?? {}).filter(([, units]) => units > 0);
  return {
    node: broker.nodeID,
    version: buildVersion(),
    status,
    started_at,
    services: broker.services.map(({ name }) => name).sort(),
    checks,
    clock: { at: new Date().toISOString(), error_seconds: one("clock_error_seconds") ?? 0 },
    disk: disk.size,
    memory_bytes: process.memoryUsage.rss(),
    links: {
      peers: gauges.peers ?? {},
      breakers: gauges.circuit_breakers ?? {},
      nats_connected: isOn("nats_connected"),
      redis: isOn("limits_shared"),
    },
    indexes: { without_vector: Object.values(gauges.embed_gap ?? {}).reduce((sum, each) => sum + each, 0) },
    queues: { fan_out: one("fan_out_queue_events") ?? 0, waiting: Object.fromEntries(waiting) },
    modes: { maintenance: modes.isMaintenance, log_level: log.level },
  };
}

interface NodeReports {
  nodes: NodeReport[];
  /** Nodes that did not answer. */
  silent: string[];
  /** Nodes in the registry that are lost, or of a version without reports. */
  others: string[];
  ages: { fan_out_seconds: number | null; delivery_seconds: number | null };
}

const MOST_AHEAD_MS = 2000;
const LOW_SHARE = 0.1;
const MOST_CLOCK_ERROR_SECONDS = 0.1;
const LATE_SECONDS = 60;
const MANY_WITHOUT_VECTOR = 10_000;

/** Returns what is wrong with the nodes. @param now the record's time */
export function findProblems({ nodes, silent, others, ages }: NodeReports, now: number): Problem[] {
  const problems: Problem[] = [];
  const adding = (severity: Problem["severity"]) => (node: string | null, check: string, text: string) =>
    problems.push({ severity, node, check, text });
  const [wrong, note] = [adding("wrong"), adding("note")];
  for (const node of silent) wrong(node, "answers", "It is in the registry, but did not report in time.");
  for (const node of others)
    note(node, "answers", "It is lost, has stopped, or has a version that does not report.");
  const versions = [...new Set(nodes.map(({ version }) => version))].sort();
  if (versions.length > 1) note(null, "versions", `Nodes run ${versions.join(" and ")}: finish the upgrade.`);
  for (const { node, ...of } of nodes) {
    const remark = of.status === "not_ready" ? wrong : note;
    for (const [name, text] of Object.entries(of.checks)) if (text !== "ok") remark(node, name, text);
    const ahead = Math.round(Math.abs(Date.parse(of.clock.at) - now) / 1000);
    if (ahead * 1000 > MOST_AHEAD_MS)
      note(node, "clock", `Its clock differs from the record's by ${ahead} s: synchronise it with NTP.`);
    if (of.clock.error_seconds > MOST_CLOCK_ERROR_SECONDS)
      note(
        node,
        "clock",
        `It knows the record's time only to within ${of.clock.error_seconds.toFixed(2)} s.`,
      );
    if (of.disk && of.disk.free_bytes < LOW_SHARE * of.disk.total_bytes)
      note(
        node,
        "disk",
        `${Math.floor(of.disk.free_bytes / 1e6)} MB of its disk are free: less than a tenth.`,
      );
    if ((of.links.peers.lost ?? 0) > 0)
      wrong(node, "links", `It has lost ${of.links.peers.lost} other nodes.`);
    if ((of.links.breakers.open ?? 0) > 0)
      wrong(node, "links", `${of.links.breakers.open} actions of other nodes do not answer it.`);
    if (of.indexes.without_vector > MANY_WITHOUT_VECTOR)
      note(node, "indexes", `${of.indexes.without_vector} search entries wait for a vector.`);
  }
  const late = (seconds: number | null, check: string, what: string) =>
    seconds !== null && seconds > LATE_SECONDS && wrong(null, check, `${what} ${Math.round(seconds)} s.`);
  late(ages.fan_out_seconds, "fan_out", "The oldest event that is due for fan-out has waited for");
  late(ages.delivery_seconds, "deliveries", "The sweep of ended leases and waits is late by");
  const modes = new Set(nodes.map((node) => node.modes.maintenance));
  if (modes.has(true)) note(null, "maintenance", "Maintenance: writes are refused.");
  return problems;
}
