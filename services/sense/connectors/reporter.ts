import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { Loop } from "../../../mixins/loop.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { ConnectorDoc, ConnectorNodeDoc, Counts } from "./connectors.model.ts";
import type { Consumer } from "./consumer.ts";

export interface ReporterDeps {
  connectors: TenantCollection<ConnectorDoc>;
  nodes: TenantCollection<ConnectorNodeDoc>;
  /** Identifies this node among those that run the connector. */
  instance: string;
  broker: ServiceBroker;
  store: Store;
}

/** Interval of writes under load. */
const BUSY_MS = 1000;
/** Interval of writes without changes. */
const IDLE_MS = 15_000;

/** Writes one connector's status on this node. */
export class Reporter {
  readonly #deps: ReporterDeps;
  readonly #doc: ConnectorDoc;
  readonly #consumer: Consumer;
  readonly #ended = new AbortController();
  readonly #loop: Loop;
  #offset: number | null;

  constructor(deps: ReporterDeps, doc: ConnectorDoc, consumer: Consumer) {
    this.#deps = deps;
    this.#doc = doc;
    this.#consumer = consumer;
    this.#offset = consumer.offset;
    this.#loop = new Loop(() => this.#write(), IDLE_MS, this.#report);
    this.#loop.start();
  }

  readonly #report = (err: unknown) =>
    this.#deps.broker.logger.warn("connectors: one failed and will be retried", err);

  /** Schedules a write: at once, or a second after the last one. */
  changed(): void {
    this.#loop.nudge();
  }

  /** Writes the last counts and removes this node's row: it no longer runs the connector. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#loop.stop();
    const { _id, tenant_id } = this.#doc;
    const { nodes } = this.#deps;
    await this.#writeProgress(this.#consumer.countsSince()).catch(this.#report);
    await nodes.delete(tenant_id, { _id: this.#rowOf(_id) }).catch(this.#report);
  }

  async #write(): Promise<boolean> {
    const { _id: connector_id, tenant_id } = this.#doc;
    const lag = await this.#consumer.lag();
    const { state, last_error, last_error_at } = this.#consumer;
    const seen_at = new Date(this.#deps.store.now());
    const row = { connector_id, state, last_error, last_error_at, lag, seen_at };
    const filter = { _id: this.#rowOf(connector_id), tenant_id };
    await Promise.all([
      this.#deps.nodes.upsert([{ filter, update: { $set: row } }]),
      this.#writeProgress(this.#consumer.countsSince()),
    ]);
    reportChange(this.#deps.broker, tenant_id, "connector");
    await sleep(BUSY_MS, undefined, { signal: this.#ended.signal }).catch(() => {});
    return false;
  }

  async #writeProgress(counts: Counts): Promise<void> {
    const $inc = Object.fromEntries(
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => [`counts.${name}`, count]),
    );
    const { offset } = this.#consumer;
    const moved = offset !== this.#offset;
    if (Object.keys($inc).length === 0 && !moved) return;
    const { _id, tenant_id } = this.#doc;
    try {
      await this.#deps.connectors.update(tenant_id, { _id }, { $inc, ...(moved && { $set: { offset } }) });
      this.#offset = offset;
    } catch (err) {
      this.#consumer.count(counts);
      throw err;
    }
  }

  #rowOf(connector_id: string): string {
    return `${connector_id} ${this.#deps.instance}`;
  }
}

export function instanceOf(row_id: string): string {
  return row_id.slice(row_id.indexOf(" ") + 1);
}
