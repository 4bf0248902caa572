/** @needs nats: deliveries are written and announced where their receivers' queues are. */
import { afterAll, beforeEach, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { ownerOf } from "../mixins/affinity.ts";
import { notifyReady } from "../services/sense/deliveries/notify.ts";
import { enqueue } from "../services/sense/events/deliver.ts";
import type { NewDelivery } from "../services/sense/interests/receiver.ts";
import { startNats } from "./support/nats.ts";
import { settle } from "./support/settle.ts";

const NODES = ["one", "two", "three"];
const tenant_id = "tn_a";
const AGENTS = Array.from({ length: 30 }, (_, i) => `ag_${i}`);
const ownerOfAgent = (agent_id: string) =>
  ownerOf(
    agent_id,
    NODES.map((id) => ({ id })),
  ).id;

type Enqueued = { deliveries: NewDelivery[] };

let brokers: ServiceBroker[] = [];
/** The calls of each node. */
let enqueued: Map<string, Enqueued[]>;
let notified: Map<string, { tenant_id: string; agent_id: string }[]>;
/** A node that takes calls and does not answer. */
let silent: string | null;

const nats = await startNats();
brokers = NODES.map(newNode);
await Promise.all(brokers.map((broker) => broker.start()));
await Promise.all(brokers.map((broker) => broker.waitForServices(["deliveries"])));
const seen = ({ registry }: ServiceBroker) => registry.getNodeList({ onlyAvailable: true }).length;
await settle(() => brokers.every((broker) => seen(broker) === NODES.length));

afterAll(async () => {
  await Promise.all(brokers.map((broker) => broker.stop()));
  await nats?.stop();
});
beforeEach(() => {
  enqueued = new Map();
  notified = new Map();
  silent = null;
});

function newNode(nodeID: string): ServiceBroker {
  const broker = new ServiceBroker({
    ...{ nodeID, namespace: "owners", logger: false },
    transporter: { type: "NATS", options: { url: nats.url } },
  });
  broker.createService({
    name: "deliveries",
    actions: {
      async enqueue({ params }) {
        if (silent === nodeID) await new Promise(() => {});
        enqueued.set(nodeID, [...(enqueued.get(nodeID) ?? []), params]);
      },
      wake({ params }: { params: { ready: { tenant_id: string; agent_id: string }[] } }) {
        notified.set(nodeID, [...(notified.get(nodeID) ?? []), ...params.ready]);
      },
    },
  });
  return broker;
}

function toAll(event_id: string, size: number): NewDelivery[] {
  const common = { tenant_id, event_id, size, priority: 5, enrichment_depth: "none" as const };
  return AGENTS.map((agent_id) => ({ ...common, agent_id, matched: { interest_ids: [], feed_ids: [] } }));
}

const agentsAt = (node: string) =>
  (enqueued.get(node) ?? []).flatMap(({ deliveries }) => deliveries.map(({ agent_id }) => agent_id));
const ownedBy = (node: string) => AGENTS.filter((agent_id) => ownerOfAgent(agent_id) === node);

test("each delivery is written by one call to its receiver's owner", async () => {
  const deliveries = [...toAll("evt_small", 100), ...toAll("evt_large", 100_000)];
  await enqueue(brokers[0] as ServiceBroker, deliveries);
  for (const node of NODES) {
    expect(enqueued.get(node)).toHaveLength(1);
    expect(agentsAt(node).sort()).toEqual([...ownedBy(node), ...ownedBy(node)].sort());
  }
});

test("where an owner does not answer, the calling node writes its deliveries", async () => {
  silent = "two";
  await enqueue(brokers[0] as ServiceBroker, toAll("evt_1", 100));
  expect(agentsAt("one").sort()).toEqual([...ownedBy("one"), ...ownedBy("two")].sort());
  expect(agentsAt("three").sort()).toEqual(ownedBy("three").sort());
});

test("agents with ready deliveries are announced to their owners only", async () => {
  notifyReady(
    brokers[0] as ServiceBroker,
    AGENTS.map((agent_id) => ({ tenant_id, agent_id })),
  );
  const announced = () => [...notified.values()].flat();
  await settle(() => announced().length >= AGENTS.length);
  for (const node of NODES)
    expect(
      notified
        .get(node)
        ?.map(({ agent_id }) => agent_id)
        .sort(),
    ).toEqual(ownedBy(node).sort());
});
