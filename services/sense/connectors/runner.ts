import type { ServiceBroker } from "moleculer";
import type { BrokerSource, Connector } from "../../../connectors/connector.ts";
import type { HostResolver } from "../../../connectors/host-resolver.ts";
import type { TenantState } from "../../identity/tenants/tenants.contract.ts";
import type { ConnectorKind, ConnectorState } from "./connectors.contract.ts";
import type { ConnectorDoc } from "./connectors.model.ts";
import { Consumer } from "./consumer.ts";
import { Intake } from "./intake.ts";
import { Reporter, type ReporterParts } from "./reporter.ts";
import { FRESH_MS } from "./status.ts";

type ConnectorClass = new (source: BrokerSource) => Connector;

// Loaded when there is a connector of the kind: most nodes have none, and the protocols' libraries are large.
const KINDS: Record<ConnectorKind, () => Promise<ConnectorClass>> = {
  amqp091: async () => (await import("../../../connectors/amqp091.ts")).Amqp091Connector,
  amqp10: async () => (await import("../../../connectors/amqp10.ts")).Amqp10Connector,
};

interface RunnerParts extends ReporterParts {
  broker: ServiceBroker;
  /** @throws Error when the address does not open. */
  urlOf(doc: ConnectorDoc): string;
  allowPrivate: boolean;
  resolver: Pick<HostResolver, "resolve">;
  maxBytes: number;
  /** @throws Fault business_rule_violation when the tenant may store no more. */
  requireQuota(tenant_id: string, bytes: number): void | Promise<void>;
}

interface Running {
  doc: ConnectorDoc;
  consumer: Consumer;
  reporter: Reporter;
}

/** Runs on this node every connector that is to run. */
export class Runner {
  readonly #parts: RunnerParts;
  readonly #running = new Map<string, Running>();
  /** What is being stopped, by its connector. */
  readonly #leaving = new Map<string, Promise<void>>();
  #stopped = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Starts and stops what should be running and is not, or is and should not; the others say how they fare. */
  async look(): Promise<void> {
    const { connectors } = this.#parts;
    const docs = await unpaused(connectors);
    const active = await this.#activeTenants([...new Set(docs.map(({ tenant_id }) => tenant_id))]);
    const wanted = new Map(
      docs.filter(({ tenant_id }) => active.has(tenant_id)).map((doc) => [doc._id, doc]),
    );
    for (const id of this.#running.keys()) if (!wanted.has(id)) this.stop(id);
    for (const [id, doc] of wanted) {
      if (isOther(this.#running.get(id)?.doc, doc)) await this.stop(id);
      const running = this.#running.get(id);
      if (running) running.reporter.changed();
      else if (!this.#stopped) await this.#start(doc);
    }
  }

  /** Resolves when what it has taken is finished, or is back at the broker; whoever began to stop it. */
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

  /** How many of this node's connectors are in each state. */
  states(): Partial<Record<ConnectorState, number>> {
    const counts: Partial<Record<ConnectorState, number>> = {};
    for (const { consumer } of this.#running.values()) {
      counts[consumer.state] = (counts[consumer.state] ?? 0) + 1;
    }
    return counts;
  }

  async #activeTenants(tenant_ids: string[]): Promise<Set<string>> {
    if (tenant_ids.length === 0) return new Set();
    const tenants = await this.#parts.broker.call<TenantState[], unknown>("tenants.get_many", { tenant_ids });
    return new Set(tenants.filter(({ status }) => status === "active").map(({ id }) => id));
  }

  async #start(doc: ConnectorDoc): Promise<void> {
    const { nodes, broker, now, maxBytes } = this.#parts;
    // One that is still ending takes this node's row away.
    await this.#leaving.get(doc._id);
    // Rows of nodes that are gone and could not say so.
    const before = new Date(now() - FRESH_MS);
    await nodes.deleteMany(doc.tenant_id, { connector_id: doc._id, seen_at: { $lt: before } });
    const kind = await KINDS[doc.kind]();
    if (this.#stopped) return;
    let intake: Intake;
    const consumer = new Consumer(
      {
        connect: () => {
          intake ??= new Intake(broker, doc, maxBytes);
          return this.#connector(kind, doc);
        },
        take: async (messages) => {
          const bytes = messages.reduce((sum, { body }) => sum + body.length, 0);
          await this.#parts.requireQuota(doc.tenant_id, bytes);
          return intake.take(messages);
        },
        changed: () => reporter.changed(),
      },
      now,
    );
    const reporter = new Reporter(this.#parts, doc, consumer);
    this.#running.set(doc._id, { doc, consumer, reporter });
    consumer.start();
  }

  #connector(kind: ConnectorClass, doc: ConnectorDoc): Connector {
    const { urlOf, allowPrivate, resolver, maxBytes } = this.#parts;
    const { from, prefetch, tenant_id, _id } = doc;
    const resolve = (host: string) => resolver.resolve(host, { tenant_id, caller: _id });
    return new kind({ url: urlOf(doc), from, prefetch, maxBytes, allowPrivate, resolve });
  }
}

const PAGE = 500;

/** Those that are to run. In pages: a node without connectors needs no thread for long scans at rest. */
async function unpaused(connectors: RunnerParts["connectors"]): Promise<ConnectorDoc[]> {
  const found: ConnectorDoc[] = [];
  for (let after = ""; ; after = (found.at(-1) as ConnectorDoc)._id) {
    const filter = { paused: false, _id: { $gt: after } };
    const page = await connectors.system.find(filter, { sort: { _id: 1 }, limit: PAGE }).toArray();
    found.push(...(page as ConnectorDoc[]));
    if (page.length < PAGE) return found;
  }
}

/** Whether a connector has to be started anew to be what it is now. */
function isOther(running: ConnectorDoc | undefined, doc: ConnectorDoc): boolean {
  if (!running) return false;
  const how = ({ mapping, prefetch }: ConnectorDoc) => JSON.stringify([mapping, prefetch]);
  return how(running) !== how(doc);
}
