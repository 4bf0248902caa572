import type { ServiceBroker } from "moleculer";
import { assertPublicHost, hostOf, type Resolve } from "../../../connectors/address-guard.ts";
import { invalidValue, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { defined } from "../../../lib/defined.ts";
import { credentialsFault } from "../../../lib/http/address-credentials.ts";
import { newId } from "../../../lib/ids.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { requireCapacity } from "../../../storage/writes.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type { Again } from "../deliveries/deliveries.model.ts";
import { compileMapping, shownMapping } from "../ingest/mapping.ts";
import type * as contract from "./connectors.contract.ts";
import { type ConnectorKind, type ConnectorState, ConnectorView } from "./connectors.contract.ts";
import {
  type ConnectorDoc,
  ConnectorModel,
  type ConnectorNodeDoc,
  ConnectorNodeModel,
  sealedAt,
} from "./connectors.model.ts";
import { nothing } from "./consumer.ts";
import { mapAgain } from "./intake.ts";
import { instanceOf } from "./reporter.ts";

const PREFETCH = 100;
/** Per tenant. Each holds a connection and up to `prefetch` events. */
const MOST_CONNECTORS = 50;

export class Connectors {
  readonly #runtime: Runtime;
  readonly #broker: ServiceBroker;
  readonly #stop: (connector_id: string) => Promise<void>;
  readonly #rows: TenantCollection<ConnectorDoc>;
  readonly #nodes: TenantCollection<ConnectorNodeDoc>;

  /** @param stop stops a connector on this node */
  constructor(runtime: Runtime, broker: ServiceBroker, stop: (connector_id: string) => Promise<void>) {
    this.#runtime = runtime;
    this.#broker = broker;
    this.#stop = stop;
    this.#rows = runtime.store.collection(ConnectorModel);
    this.#nodes = runtime.store.collection(ConnectorNodeModel);
  }

  async create(ctx: CallOf<typeof contract.createConnector>) {
    const { config, resolver, secrets } = this.#runtime;
    const { name, kind, url, source, mapping, prefetch = PREFETCH, paused = false } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const from = chooseSource(kind, ctx.params);
    compileMapping({ ...mapping, source });
    const resolve = (host: string) => resolver.resolve(host, shareOf(ctx.meta.caller));
    await checkUrl(url, config.CONNECTOR_ALLOW_PRIVATE, resolve);
    const _id = newId("con", ctx.meta.idempotency_seed);
    const [called, rule, instead] = ["connectors", "connector_limit", "Delete one first"] as const;
    await requireCapacity({ of: this.#rows, most: MOST_CONNECTORS, called, rule, instead }, tenant_id, _id);
    const at = this.#now();
    const connector = { _id, tenant_id, name, kind, from, source, mapping, prefetch, paused };
    const address = { sealed_url: secrets.seal(url, sealedAt(_id)), shown_url: shownUrl(url) };
    const counts = nothing();
    const row = { ...connector, ...address, counts, offset: null, created_at: at, updated_at: at };
    const doc = await this.#rows.insertOnce(row);
    await this.#announce();
    return present(doc, [], Number(this.#now()));
  }

  async list({ params, meta }: CallOf<typeof contract.listConnectors>) {
    const { tenant_id } = meta.caller;
    const page = await this.#rows.page(tenant_id, {}, { created_at: 1, _id: 1 }, params);
    return { connectors: await this.#show(tenant_id, page.rows), total: page.total };
  }

  async get({ params: { connector_id }, meta }: CallOf<typeof contract.getConnector>) {
    const { tenant_id } = meta.caller;
    const [shown] = await this.#show(tenant_id, [await this.#find(tenant_id, connector_id)]);
    return shown;
  }

  async update(ctx: CallOf<typeof contract.updateConnector>) {
    const { connector_id, name, mapping, prefetch, paused } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const { source } = await this.#find(tenant_id, connector_id);
    if (mapping) compileMapping({ ...mapping, source });
    const $set = { ...defined({ name, mapping, prefetch, paused }), updated_at: this.#now() };
    const updated = await this.#rows.update(tenant_id, { _id: connector_id }, { $set });
    requireFound(updated, "connector", connector_id);
    await this.#announce();
    if (paused) await this.#stop(connector_id);
    return this.get(ctx);
  }

  async delete(ctx: CallOf<typeof contract.deleteConnector>) {
    const { tenant_id } = ctx.meta.caller;
    const { connector_id } = ctx.params;
    const deleted = await this.#rows.delete(tenant_id, { _id: connector_id });
    requireFound(deleted, "connector", connector_id);
    await this.#announce();
    await this.#stop(connector_id);
    await this.#nodes.deleteMany(tenant_id, { connector_id });
  }

  async mapAgain({ tenant_id, registration_id, ...again }: Again) {
    const doc = await this.#rows.findOne(tenant_id, { _id: registration_id });
    return doc ? mapAgain(doc, again) : { error: "mapping error: the connector was deleted" };
  }

  #now(): Date {
    return new Date(this.#runtime.store.now());
  }

  /** Makes every node check its connectors. */
  #announce(): Promise<void> {
    return this.#broker.broadcast("connectors.changed");
  }

  async #find(tenant_id: string, _id: string): Promise<ConnectorDoc> {
    return requireFound(await this.#rows.findOne(tenant_id, { _id }), "connector", _id);
  }

  /** Formats connectors with the reports of live nodes: with NATS these are known at once, without it by their age. */
  async #show(tenant_id: string, docs: ConnectorDoc[]) {
    const rows = await this.#nodes.find(tenant_id, { connector_id: { $in: docs.map(({ _id }) => _id) } });
    const nodes = this.#runtime.config.NATS_URL && this.#broker.registry.getNodeList({ onlyAvailable: true });
    const live = nodes && new Set(nodes.map(({ id }) => id));
    const standing = live ? rows.filter(({ _id }) => live.has(instanceOf(_id))) : rows;
    const byId = Map.groupBy(standing, ({ connector_id }) => connector_id);
    return docs.map((doc) => present(doc, byId.get(doc._id) ?? [], Number(this.#now())));
  }
}

/** Returns a broker's address without its secrets: credentials and query. */
export function shownUrl(url: string): string {
  const { protocol, username, password, host, pathname } = new URL(url);
  return `${protocol}//${username || password ? "***@" : ""}${host}${pathname}`;
}

/** @throws Fault validation_error, field `url`, which never repeats it */
async function checkUrl(url: string, allowPrivate: boolean, resolve: Resolve): Promise<void> {
  const fault = credentialsFault(url);
  if (fault) throw invalidValue("url", `url: ${fault}.`);
  if (!URL.canParse(url) || hostOf(url) === "") {
    throw invalidValue("url", "url: expected amqp://HOST or amqps://HOST. Encode special characters as %XX.");
  }
  if (allowPrivate) return;
  await assertPublicHost(hostOf(url), resolve).catch((err: Error) => {
    throw invalidValue("url", `url: ${err.message} unless the operator sets CONNECTOR_ALLOW_PRIVATE.`);
  });
}

/** Returns the queue or the address, as the kind needs. @throws Fault validation_error for the other one, or none */
function chooseSource(kind: ConnectorKind, body: { queue?: string; address?: string }): string {
  const [wanted, other] =
    kind === "amqp091" ? (["queue", "address"] as const) : (["address", "queue"] as const);
  const from = body[wanted];
  if (from === undefined) throw invalidValue(wanted, `${wanted} is required for the kind ${kind}.`);
  if (body[other] !== undefined)
    throw invalidValue(other, `${other}: not allowed for the kind ${kind}. Use ${wanted} instead.`);
  return from;
}

/** A node without a report for this long is gone: nodes report every 15 s. */
export const FRESH_MS = 45_000;

/** The connector's state is the best state of its nodes. */
const BEST_FIRST: ConnectorState[] = ["consuming", "connecting", "retrying", "failed"];

export function present(doc: ConnectorDoc, rows: ConnectorNodeDoc[], now: number) {
  const fresh = rows.filter(({ seen_at }) => seen_at.getTime() > now - FRESH_MS);
  const state = BEST_FIRST.find((each) => fresh.some((row) => row.state === each)) ?? "connecting";
  const failed = fresh.filter((row) => row.last_error_at !== null);
  const last = failed.sort((a, b) => Number(b.last_error_at) - Number(a.last_error_at))[0];
  const lags = fresh.flatMap(({ lag }) => lag ?? []);
  const { kind, from, paused } = doc;
  return presentAs(ConnectorView, doc, {
    url: doc.shown_url,
    queue: kind === "amqp091" ? from : null,
    address: kind === "amqp10" ? from : null,
    mapping: shownMapping(doc.mapping),
    state: paused ? ("paused" as const) : state,
    last_error: last?.last_error ?? null,
    last_error_at: last?.last_error_at?.toISOString() ?? null,
    lag: !paused && lags.length ? Math.max(...lags) : null,
  });
}
