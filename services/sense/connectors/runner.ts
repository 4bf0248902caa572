import { randomBytes } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import type { BrokerSource, Connector } from "../../../connectors/connector.ts";
import { asBackground } from "../../../lib/queue/work.ts";
import { inTurns } from "../../../mixins/due.ts";
import { activeTenants } from "../../identity/tenants/find-tenants.ts";
import type { Runtime } from "../../runtime.ts";
import type { ConnectorKind, ConnectorState } from "./connectors.contract.ts";
import { type ConnectorDoc, ConnectorModel, ConnectorNodeModel, sealedAt } from "./connectors.model.ts";
import { FRESH_MS } from "./connectors.ts";
import { Consumer } from "./consumer.ts";
import { type Intake, newIntake } from "./intake.ts";
import { Reporter, type ReporterDeps } from "./reporter.ts";

type ConnectorClass = new (source: BrokerSource) => Connector;

// Loaded with the first connector of its kind: most nodes have none, and the protocols' libraries are large.
const KINDS: Record<ConnectorKind, () => Promise<ConnectorClass>> = {
  amqp091: async () => (await import("../../../connectors/amqp091.ts")).Amqp091Connector,
  amqp10: async () => (await import("../../../connectors/amqp10.ts")).Amqp10Connector,
};

/** Connectors that start or stop at a time: one may wait for its messages. */
const AT_ONCE = 8;

interface Running {
  doc: ConnectorDoc;
  consumer: Consumer;
  reporter: Reporter;
}

export class Runner {
  readonly #runtime: Runtime;
  readonly #deps: ReporterDeps;
  readonly #running = new Map<string, Running>();
  readonly #leaving = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(runtime: Runtime, broker: ServiceBroker) {
    const { store, config } = runtime;
    // An embedded store has one node at a time, which overwrites its predecessor's report.
    const alone = config.MONGO_URL ? randomBytes(6).toString("hex") : "embedded";
    this.#runtime = runtime;
    this.#deps = {
      ...{ broker, store, instance: config.NATS_URL ? broker.nodeID : alone },
      ...{ connectors: store.collection(ConnectorModel), nodes: store.collection(ConnectorNodeModel) },
    };
  }

  /** Starts and stops connectors as needed. Returns false: nothing is left to do. */
  async look(): Promise<false> {
    const docs = await unpaused(this.#deps.connectors);
    const active = await activeTenants(this.#deps.broker, docs);
    const wanted = new Map(
      docs.filter(({ tenant_id }) => active.has(tenant_id)).map((doc) => [doc._id, doc]),
    );
    for (const id of this.#running.keys()) if (!wanted.has(id)) this.stop(id);
    const start = async (doc: ConnectorDoc) => {
      if (isOther(this.#running.get(doc._id)?.doc, doc)) await this.stop(doc._id);
      if (!this.#running.has(doc._id) && !this.#stopped) await this.#start(doc);
    };
    await inTurns("connectors", wanted.values(), start, AT_ONCE);
    return false;
  }

  /** Resolves when its messages are finished or back at the broker, also if it is being stopped already. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (!running) return this.#leaving.get(id);
    this.#running.delete(id);
    const left = running.consumer
      .stop()
      .then(() => running.reporter.end())
      .finally(() => this.#leaving.delete(id));
    this.#leaving.set(id, left);
    await left;
  }

  async stopAll(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...[...this.#running.keys()].map((id) => this.stop(id)), ...this.#leaving.values()]);
  }

  states(): Partial<Record<ConnectorState, number>> {
    const byState = Map.groupBy(this.#running.values(), ({ consumer }) => consumer.state);
    return Object.fromEntries([...byState].map(([state, running]) => [state, running.length]));
  }

  async #start(doc: ConnectorDoc): Promise<void> {
    const { nodes, broker, store } = this.#deps;
    const { config, secrets, usage, modes } = this.#runtime;
    // A connector that is still stopping will remove this node's row.
    await this.#leaving.get(doc._id);
    // Rows of nodes that crashed.
    const before = new Date(store.now() - FRESH_MS);
    await nodes.deleteMany(doc.tenant_id, { connector_id: doc._id, seen_at: { $lt: before } });
    const kind = await KINDS[doc.kind]();
    if (this.#stopped) return;
    let intake: Intake;
    // Read once: the secret key that has sealed it may be replaced while it runs.
    let url: string | undefined;
    const consumer = new Consumer(
      {
        connect: (after) => {
          intake ??= newIntake(broker, doc, config.EVENT_MAX_BYTES);
          url ??= secrets.open(doc.sealed_url, sealedAt(doc._id));
          return this.#connector(kind, doc, url, after);
        },
        take: async (messages) => {
          const bytes = messages.reduce((sum, { body }) => sum + body.length, 0);
          modes.requireWrites();
          await usage.require(doc.tenant_id, bytes);
          return asBackground(doc.tenant_id, "connectors", () => intake(messages));
        },
        changed: () => reporter.changed(),
        trouble: (reason) => this.#logTrouble(doc, reason),
      },
      store.now,
      doc.offset ?? null,
    );
    const reporter = new Reporter(this.#deps, doc, consumer);
    this.#running.set(doc._id, { doc, consumer, reporter });
    consumer.start();
  }

  #logTrouble({ tenant_id, _id }: ConnectorDoc, reason: string | null): void {
    const { logger } = this.#deps.broker;
    if (reason === null) logger.info({ tenant_id, connector_id: _id }, "connectors: consuming again");
    else logger.warn({ tenant_id, connector_id: _id, reason }, "connectors: not consuming");
  }

  #connector(kind: ConnectorClass, doc: ConnectorDoc, url: string, after: number | null): Connector {
    const { resolver, config } = this.#runtime;
    const { from, prefetch, tenant_id, _id } = doc;
    const limits = { maxBytes: config.EVENT_MAX_BYTES, allowPrivate: config.CONNECTOR_ALLOW_PRIVATE };
    const resolve = (host: string) => resolver.resolve(host, { tenant_id, caller: _id });
    return new kind({ url, from, after, prefetch, ...limits, resolve });
  }
}

const PAGE = 500;

/** Returns the connectors to run. In pages: an idle node without connectors needs no thread for long scans. */
async function unpaused(connectors: ReporterDeps["connectors"]): Promise<ConnectorDoc[]> {
  const docs: ConnectorDoc[] = [];
  for (let after = ""; ; after = (docs.at(-1) as ConnectorDoc)._id) {
    const filter = { paused: false, _id: { $gt: after } };
    const page = await connectors.system.find(filter, { sort: { _id: 1 }, limit: PAGE }).toArray();
    docs.push(...(page as ConnectorDoc[]));
    if (page.length < PAGE) return docs;
  }
}

/** Whether a running connector must be restarted to apply its current settings. */
function isOther(running: ConnectorDoc | undefined, doc: ConnectorDoc): boolean {
  if (!running) return false;
  const how = ({ mapping, prefetch }: ConnectorDoc) => JSON.stringify([mapping, prefetch]);
  return how(running) !== how(doc);
}
