/**
 * @needs mongodb: two nodes that both believe an agent's queue is theirs. Correctness must depend on the record alone. The
 * embedded store has one node, which keeps what is ready in memory.
 */
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { readConfig } from "../config.ts";
import { ContractValidator } from "../lib/contract/validator.ts";
import type { Runtime } from "../services/runtime.ts";
import { deliveriesService } from "../services/sense/deliveries/deliveries.service.ts";
import type { Received } from "../services/sense/deliveries/receive.ts";
import type { Outcomes } from "../services/sense/deliveries/settle.ts";
import type { Store } from "../storage/connection.ts";
import { ownBroker, ownStore } from "./support/own-store.ts";
import { settle } from "./support/settle.ts";
import { useMongo } from "./support/use.ts";

const EVENTS = 400;
const RECEIVERS = 4;
const tenant_id = "tn_a";
const agent_id = "ag_shared";
const mongo = await useMongo();

/** A node without a transporter: it knows of no other, so that every key is its own. */
async function startNode(store: Store): Promise<ServiceBroker> {
  const settings = { visibility_timeout_seconds: 60, retry_budget: 100 };
  const get_many = ({ params }: { params: { agent_ids: string[] } }) =>
    params.agent_ids.map((id) => ({ id, ...settings }));
  const load = ({ params }: { params: { event_ids: string[] } }) =>
    params.event_ids.map((event_id) => ({ event_id, envelope: "{}" }));
  await store.ready();
  return ownBroker(
    [
      { name: "agents", actions: { get_many } },
      { name: "events", actions: { load } },
      deliveriesService({ store, config: readConfig({}), hooks: {} } as Runtime),
    ],
    { validator: new ContractValidator() },
  );
}

describe("two owners of one queue", () => {
  let nodes: ServiceBroker[] = [];

  beforeAll(async () => {
    if (!("url" in mongo)) return;
    const stores = await Promise.all([ownStore(mongo.url), ownStore(mongo.url)]);
    nodes = await Promise.all(stores.map(startNode));
  });

  ("url" in mongo ? test : test.skip)("lease nothing twice at the same time, and lose nothing", async () => {
    /** The holder of each delivery: its lease, until it is given back. */
    const held = new Map<string, string>();
    const twice: string[] = [];
    const acknowledged = new Set<string>();
    const handedBack = new Set<string>();
    const byNode = nodes.map(() => 0);
    const call = <T>(node: number, action: string, params: object) =>
      (nodes[node] as ServiceBroker).call<T, object>(`deliveries.${action}`, {
        tenant_id,
        agent_id,
        ...params,
      });

    async function receive(receiver: number): Promise<void> {
      const node = receiver % 2;
      for (let round = 0; acknowledged.size < EVENTS; round++) {
        const lease = `${receiver} ${round}`;
        const { deliveries } = await call<Received>(node, "claim", { limit: 7, wait_ms: 50, lease });
        for (const { id } of deliveries) {
          if (held.has(id) || acknowledged.has(id)) twice.push(`${id}: ${held.get(id)} and ${lease}`);
          held.set(id, lease);
          byNode[node] = (byNode[node] as number) + 1;
        }
        await finish(node, lease, deliveries);
      }
    }

    /** Every third is given back once; the others are settled at the node that did not hand them out. */
    async function finish(node: number, lease: string, deliveries: Received["deliveries"]): Promise<void> {
      const back = deliveries.filter(({ id }, i) => i % 3 === 0 && !handedBack.has(id)).map(({ id }) => id);
      const done = deliveries.map(({ id }) => id).filter((id) => !back.includes(id));
      for (const id of back) handedBack.add(id);
      // Before the write, as from then on they may be somebody else's.
      for (const id of [...back, ...done]) held.delete(id);
      for (const id of done) acknowledged.add(id);
      const settled = (at: number, outcomes: Partial<Outcomes>) => {
        const all = { acknowledged: [], failed: [], released: [], ...outcomes };
        return call(at, "exchange", { limit: 0, wait_ms: 0, lease: `${lease} settled`, outcomes: all });
      };
      await settled(node, { released: back.map((id) => ({ id, lease })) });
      await settled(1 - node, { acknowledged: done });
    }

    const receiving = Array.from({ length: RECEIVERS }, (_, i) => receive(i));
    const matched = { interest_ids: ["int_1"], feed_ids: [] };
    for (let from = 0; from < EVENTS; from += 50) {
      const rows = Array.from({ length: 50 }, (_, i) => ({
        ...{ tenant_id, agent_id, event_id: `evt_${from + i}`, priority: 5, matched },
        enrichment_depth: "none",
      }));
      await call((from / 50) % 2, "enqueue", { deliveries: rows });
    }
    await Promise.all(receiving);
    expect(twice).toEqual([]);
    expect(acknowledged.size).toBe(EVENTS);
    expect(Math.min(...byNode)).toBeGreaterThan(0);
    expect(handedBack.size).toBeGreaterThan(0);
    const left = () => call<Received>(0, "claim", { limit: 100, wait_ms: 0, lease: "last" });
    await settle(async () => (await left()).deliveries.length === 0);
  });
});
