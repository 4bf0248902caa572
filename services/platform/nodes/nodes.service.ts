import type { Context, ServiceBroker } from "moleculer";
import { listNodes as nodesOffering } from "../../../lib/broker/between-nodes.ts";
import { unavailable } from "../../../lib/contract/faults.ts";
import { buildVersion } from "../../../lib/version.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { readGauges } from "../../../observability/metrics.ts";
import { noteAnyWrites, noteWrite, onWrite, setComplete } from "../../../storage/activity.ts";
import { FORMAT_ID, raiseFormat, unknownFormat } from "../../../storage/format.ts";
import { INSTALLATION } from "../../../storage/model.ts";
import {
  action,
  type CallOf,
  event,
  idempotent,
  internal,
  type Runtime,
  type ServiceFactory,
} from "../../runtime.ts";
import type { ModesState } from "../admission/modes.ts";
import type { NodeReport, Problem } from "./nodes.contract.ts";
import * as contract from "./nodes.contract.ts";
import { type InstallationDoc, InstallationModel } from "./nodes.model.ts";

const ROW = { _id: "modes", tenant_id: INSTALLATION };
/** How soon a node follows that missed a change. */
const FOLLOW_MS = 30_000;
const ANSWER_MS = 5000;
const NONE: ModesState = { maintenance: null, log_level: null };

function toModes(row: InstallationDoc | null = null): ModesState {
  return row ? { maintenance: row.maintenance, log_level: row.log_level } : NONE;
}

/** Runs on every node, whatever `SERVICES` says: what the operator sees of nodes, and sets on them. */
export const nodesService: ServiceFactory = (runtime) => {
  const { store, modes, log } = runtime;
  const rows = store.collection(InstallationModel);
  const formats = new Formats(runtime);
  const started_at = new Date().toISOString();
  let stopReports: (() => void) | undefined;

  async function read(): Promise<ModesState> {
    return toModes(await rows.findOne(ROW.tenant_id, { _id: ROW._id }));
  }

  async function follow(): Promise<false> {
    const both = await rows.find(ROW.tenant_id, { _id: { $in: [ROW._id, FORMAT_ID] } });
    const named = new Map(both.map((row) => [row._id, row]));
    modes.set(toModes(named.get(ROW._id)));
    formats.follow(named.get(FORMAT_ID)?.format ?? 0);
    return false;
  }

  const loop = new ServiceLoop("modes", follow, FOLLOW_MS);

  /** Calls every node that has the action; null for those that do not answer. */
  function ask<T>(broker: ServiceBroker, name: string): Promise<{ node: string; answer: T | null }[]> {
    const answers = nodesOffering(broker, name).map(async (nodeID) => {
      const answer = await broker.call<T, object>(name, {}, { nodeID, timeout: ANSWER_MS }).catch((err) => {
        log.warn({ err, of: nodeID }, "a node did not answer");
        return null;
      });
      return { node: nodeID, answer };
    });
    return Promise.all(answers);
  }

  async function present(broker: ServiceBroker) {
    const [state, answers] = await Promise.all([read(), ask<true>(broker, "nodes.follow")]);
    const nodes = answers.map(({ node, answer }) => ({ node, applied: answer !== null }));
    const others = othersThan(broker, answers).map((node) => ({ node, applied: false }));
    return { ...state, nodes: [...nodes, ...others] };
  }

  async function update(ctx: CallOf<typeof contract.updateInstallation>) {
    const { maintenance, reason, log_level } = ctx.params;
    const now = new Date(store.now());
    const before = (await read()).maintenance;
    const begun = {
      reason: reason === undefined ? (before?.reason ?? null) : reason,
      since: before?.since ?? now.toISOString(),
    };
    // Only what is given: it must not undo another change that is made meanwhile.
    const report = {
      ...(maintenance !== undefined && { maintenance: maintenance ? begun : null }),
      ...(log_level !== undefined && { log_level }),
    };
    const $setOnInsert = {
      ...(maintenance === undefined && { maintenance: null }),
      ...(log_level === undefined && { log_level: null }),
    };
    const isWhole = Object.keys($setOnInsert).length === 0;
    const $set = { ...report, updated_at: now };
    await rows.upsert([{ filter: ROW, update: isWhole ? { $set } : { $set, $setOnInsert } }]);
    if (reason !== undefined && maintenance === undefined) {
      const on = { _id: ROW._id, "maintenance.since": { $exists: true } };
      await rows.updateMany(ROW.tenant_id, on, { $set: { "maintenance.reason": reason } });
    }
    return present(ctx.broker);
  }

  async function list(broker: ServiceBroker) {
    const [answers, ages] = await Promise.all([
      ask<contract.NodeReport>(broker, "nodes.report"),
      // An older version, or a command without a server, does not have them.
      Promise.all(["events.overdue", "deliveries.overdue"].map((name) => broker.call(name))).catch(() => [
        null,
        null,
      ]),
    ]);
    const nodes = answers.flatMap(({ answer }) => answer ?? []);
    const silent = answers.filter(({ answer }) => answer === null).map(({ node }) => node);
    const [fan_out_seconds, delivery_seconds] = ages as [number | null, number | null];
    const others = othersThan(broker, answers);
    const found = { nodes, silent, others, ages: { fan_out_seconds, delivery_seconds } };
    const problems = findProblems(found, store.now());
    return { ok: !problems.some(({ severity }) => severity === "wrong"), problems, ages: found.ages, nodes };
  }

  return {
    name: "nodes",
    mixins: [loop.mixin],
    actions: {
      list: action(contract.listNodes, (ctx) => list(ctx.broker)),
      installation: action(contract.getInstallation, (ctx) => present(ctx.broker)),
      update_installation: action(contract.updateInstallation, update),
      /** Applies what the record says to this node. */
      follow: idempotent<object>(async () => {
        await follow();
        return true;
      }),
      require_format: internal<{ format: number; what: string }>((ctx) =>
        formats.require(ctx.broker, ctx.params),
      ),
      report: idempotent<object>((ctx) => reportNode(runtime, ctx.broker, started_at)),
    },
    events: { ...WRITES_OF_OTHERS, "nodes.format_raised": event(follow) },
    async started() {
      if (this.broker.transit) stopReports = reportWrites(this.broker);
      // A node that starts during maintenance refuses writes at once.
      await follow();
    },
    stopped: () => stopReports?.(),
  };
};

/** Returns the registry's nodes that could not be asked: lost or stopped ones, and those of a version without the action. */
function othersThan(broker: ServiceBroker, answers: { node: string }[]): string[] {
  const known = new Set(answers.map(({ node }) => node));
  const all = (broker.registry.nodes.toArray() as { id: string }[]).map(({ id }) => id);
  return all.filter((id) => !known.has(id));
}

const EVENT = "records.written";
/** Between two messages of a node; the first is sent at once. */
const PAUSE_MS = 1000;

interface Written {
  collections: string[];
  by: string;
}

/**
 * Tells the other nodes which collections this one has written, so that the owners of background work look for it. A lost
 * message delays that until their next look without being told (`mixins/quiet.ts`).
 */
function reportWrites(broker: ServiceBroker): () => void {
  const written = new Set<string>();
  let pause: NodeJS.Timeout | undefined;
  const send = () => {
    pause = undefined;
    if (written.size === 0) return;
    const message: Written = { collections: [...written], by: broker.nodeID };
    written.clear();
    pause = setTimeout(send, PAUSE_MS).unref();
    broker.broadcast(EVENT, message).catch(() => {});
  };
  const end = onWrite((collection) => {
    written.add(collection);
    if (pause === undefined) send();
  });
  return () => {
    end();
    clearTimeout(pause);
  };
}

/** A node as Moleculer's registry lists it. */
interface Listed {
  services: { events?: Record<string, unknown> }[];
}

/** Nodes may have come that do not tell, or gone before they told everything. */
function nodesChanged({ broker }: Context): void {
  const nodes = broker.registry.getNodeList({ onlyAvailable: true, withServices: true }) as Listed[];
  setComplete(nodes.every(({ services }) => services.some(({ events }) => events && EVENT in events)));
  noteAnyWrites();
}

/** Messages of other nodes about their writes. */
const WRITES_OF_OTHERS = {
  [EVENT]: ({ params: { collections, by }, broker }: Context<Written>) => {
    if (by !== broker.nodeID) for (const collection of collections) noteWrite(collection);
  },
  "$node.connected": nodesChanged,
  "$node.disconnected": nodesChanged,
  "$services.changed": nodesChanged,
  // Messages sent while the connection was away are lost, and those that a node's numbered heartbeats miss.
  "$transporter.connected": event(noteAnyWrites),
  "$node.messages_lost": event(noteAnyWrites),
};

const RETRY_AFTER_SECONDS = 60;

interface RegistryNode {
  id: string;
  available: boolean;
  /** The metadata that `moleculer.config.ts` announces; nothing in versions before formats. */
  metadata?: { format?: number };
}

/**
 * Lets rows of a new format be written when all nodes know it, and ends this node when it does not know those that are
 * there. See docs/decisions/0074-formats.md.
 */
class Formats {
  readonly #runtime: Pick<Runtime, "store" | "log">;
  /** The highest format of the rows, as this node last read it. */
  #written = 0;

  constructor(runtime: Pick<Runtime, "store" | "log">) {
    this.#runtime = runtime;
  }

  /** Takes note of the format of the rows. Ends this node, as an operator does, if it is not known here. */
  follow(written: number): void {
    this.#written = written;
    const reason = unknownFormat(this.#written);
    if (reason === null) return;
    this.#runtime.log.fatal(reason);
    process.kill(process.pid, "SIGINT");
  }

  /**
   * Allows what writes rows of a format.
   * @param what a field or an operation, for the caller
   * @throws Fault service_unavailable while a node does not know the format
   */
  async require(broker: ServiceBroker, { format, what }: { format: number; what: string }): Promise<void> {
    requireAll(broker, format, what);
    if (format <= this.#written) return;
    await raiseFormat(this.#runtime.store.connection, format);
    this.#written = format;
    // A node that joined meanwhile reads it now, or is seen here.
    await broker.broadcast("nodes.format_raised");
    requireAll(broker, format, what);
  }
}

function requireAll(broker: ServiceBroker, format: number, what: string): void {
  const nodes = broker.registry.nodes.toArray() as RegistryNode[];
  const older = nodes.filter(({ available, metadata }) => available && (metadata?.format ?? 0) < format);
  if (older.length === 0) return;
  const names = older.map(({ id }) => id).join(", ");
  throw unavailable(
    `${what} cannot be used yet: nodes of an earlier version do not know it (${names}). Retry when the upgrade is finished.`,
    RETRY_AFTER_SECONDS,
    { nodes: older.map(({ id }) => id) },
  );
}

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
async function reportNode(
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
