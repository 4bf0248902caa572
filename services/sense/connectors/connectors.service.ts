import { randomBytes } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { type Room, requireRoom } from "../../../mixins/room.ts";
import { observeGauge } from "../../../observability/metrics.ts";
import { tellLive } from "../../edge/live/live-change.ts";
import { action, event, idempotent, type ServiceFactory } from "../../runtime.ts";
import { compileMapping } from "../ingest/mapping.ts";
import { checkUrl, shownUrl, sourceOf } from "./address.ts";
import * as contract from "./connectors.contract.ts";
import {
  type ConnectorDoc,
  ConnectorModel,
  type ConnectorNodeDoc,
  ConnectorNodeModel,
} from "./connectors.model.ts";
import { type Again, mapAgain } from "./intake.ts";
import { instanceOf } from "./reporter.ts";
import { Runner } from "./runner.ts";
import { present } from "./status.ts";

/** Polling interval, for changes and wake-ups that were lost between nodes. */
const LOOK_MS = 15_000;
const PREFETCH = 100;
/** Per tenant. Each holds a connection and up to `prefetch` events. */
const MOST_CONNECTORS = 50;

/** Ingests brokers' messages as events (spec: Events 3), on every node that runs it. */
export const connectorsService: ServiceFactory = ({ store, secrets, config, usage, resolver }) => {
  const connectors = store.collection(ConnectorModel);
  const nodes = store.collection(ConnectorNodeModel);
  const allowPrivate = config.CONNECTOR_ALLOW_PRIVATE;
  const now = () => store.now();
  let broker: ServiceBroker;
  let runner: Runner;
  const loop = new ServiceLoop(
    () => runner.look().then(() => false),
    LOOK_MS,
    "connectors: will be tried again",
  );

  async function find(tenant_id: string, _id: string): Promise<ConnectorDoc> {
    const doc = await connectors.findOne(tenant_id, { _id });
    if (!doc) throw notFound("connector", _id);
    return doc;
  }

  async function show(doc: ConnectorDoc) {
    return present(doc, standing(await nodes.find(doc.tenant_id, { connector_id: doc._id })), now());
  }

  /** Returns the reports of live nodes: with NATS these are known at once, without it by their age. */
  function standing(rows: ConnectorNodeDoc[]): ConnectorNodeDoc[] {
    if (!config.NATS_URL) return rows;
    const there = new Set(broker.registry.getNodeList({ onlyAvailable: true }).map(({ id }) => id));
    return rows.filter(({ _id }) => there.has(instanceOf(_id)));
  }

  const room: Room<ConnectorDoc> = {
    of: connectors,
    most: MOST_CONNECTORS,
    called: "connectors",
    rule: "connector_limit",
    instead: "delete one first",
  };

  async function stop(): Promise<void> {
    await Promise.all([loop.stop(), runner.stopAll()]);
  }

  return {
    name: "connectors",
    mixins: [loop.mixin],
    actions: {
      create: action(contract.createConnector, async (ctx) => {
        const { name, kind, url, source, mapping, prefetch = PREFETCH, paused = false } = ctx.params;
        const from = sourceOf(kind, ctx.params);
        compileMapping({ ...mapping, source });
        await checkUrl(url, allowPrivate, (host) => resolver.resolve(host, shareOf(ctx.meta.caller)));
        const _id = newId("con", ctx.meta.idempotency_seed);
        await requireRoom(room, ctx.meta.caller.tenant_id, _id);
        const at = new Date(now());
        const doc = await connectors.insertOnce({
          ...{ _id, tenant_id: ctx.meta.caller.tenant_id, name, kind },
          ...{ sealed_url: secrets.seal(url, place(_id)), shown_url: shownUrl(url) },
          ...{ from, source, mapping, prefetch, paused },
          counts: { received: 0, accepted: 0, mapping_errors: 0 },
          ...{ created_at: at, updated_at: at },
        });
        await announce(ctx);
        return present(doc, [], now());
      }),

      list: action(contract.listConnectors, async ({ params: { offset = 0, limit = 50 }, meta }) => {
        const { tenant_id } = meta.caller;
        const [docs, total] = await Promise.all([
          connectors.find(tenant_id, {}, { sort: { created_at: 1, _id: 1 }, skip: offset, limit }),
          connectors.count(tenant_id, {}),
        ]);
        const rows = await nodes.find(tenant_id, { connector_id: { $in: docs.map(({ _id }) => _id) } });
        const byId = Map.groupBy(rows, ({ connector_id }) => connector_id);
        return {
          connectors: docs.map((doc) => present(doc, standing(byId.get(doc._id) ?? []), now())),
          total,
        };
      }),

      get: action(contract.getConnector, async ({ params: { connector_id }, meta }) =>
        show(await find(meta.caller.tenant_id, connector_id)),
      ),

      update: action(contract.updateConnector, async (ctx) => {
        const { connector_id, name, mapping, prefetch, paused } = ctx.params;
        const { tenant_id } = ctx.meta.caller;
        const { source } = await find(tenant_id, connector_id);
        if (mapping) compileMapping({ ...mapping, source });
        const given = Object.entries({ name, mapping, prefetch, paused }).filter(
          ([, value]) => value !== undefined,
        );
        const doc = await connectors.update(
          tenant_id,
          { _id: connector_id },
          { $set: { ...Object.fromEntries(given), updated_at: new Date(now()) } },
        );
        if (!doc) throw notFound("connector", connector_id);
        await announce(ctx);
        if (paused) await runner.stop(connector_id);
        return show(await find(doc.tenant_id, connector_id));
      }),

      delete: action(contract.deleteConnector, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const { connector_id } = ctx.params;
        if (!(await connectors.delete(tenant_id, { _id: connector_id }))) {
          throw notFound("connector", connector_id);
        }
        await announce(ctx);
        await runner.stop(connector_id);
        await nodes.deleteMany(tenant_id, { connector_id });
      }),

      /** Maps a dead letter's payload by the current mapping. */
      map_again: idempotent<Again>(async ({ params: { tenant_id, registration_id, ...again } }) => {
        const doc = await connectors.findOne(tenant_id, { _id: registration_id });
        return doc ? mapAgain(doc, again) : { error: "mapping error: the connector was deleted" };
      }),
    },

    events: {
      "connectors.changed": event(() => loop.nudge()),
      // A tenant may have been suspended, activated or erased.
      "auth.changed": event<Record<string, string>>((changed) => {
        if (Object.keys(changed).join() === "tenant_id") loop.nudge();
      }),
      // Before the services needed for publishing stop.
      "node.stopping": event(stop),
    },

    created() {
      broker = this.broker as ServiceBroker;
      const report = (err: unknown) => broker.logger.warn("connectors: will be tried again", err);
      const urlOf = ({ _id, sealed_url }: ConnectorDoc) => secrets.open(sealed_url, place(_id));
      // An embedded store has one node at a time, which overwrites its predecessor's report.
      const alone = config.MONGO_URL ? randomBytes(6).toString("hex") : "embedded";
      const instance = config.NATS_URL ? broker.nodeID : alone;
      const tell = (tenant_id: string) => tellLive(broker, tenant_id, "connector");
      const own = { connectors, nodes, instance, now, report, tell };
      const requireQuota = usage.require.bind(usage);
      const bounds = { allowPrivate, requireQuota, maxBytes: config.EVENT_MAX_BYTES };
      runner = new Runner({ ...own, ...bounds, broker, urlOf, resolver });
      observeGauge("connectors", "Connectors on this node by state", "state", async () => runner.states());
    },

    stopped: stop,
  };
};

/** Makes every node check its connectors. */
function announce(ctx: Call): Promise<void> {
  return ctx.broadcast("connectors.changed");
}

function place(connector_id: string): string {
  return `connectors/${connector_id}/url`;
}
