import { expect, test } from "@jest/globals";
import { type Context, ServiceBroker } from "moleculer";
import { exposition, metrics } from "../../observability/metrics.ts";
import { countRefused, observePeers } from "../../observability/peers.ts";
import { settle } from "../support/settle.ts";

test("a call that a bulkhead refuses is counted once, for its action and not for the one that made it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const broker = new ServiceBroker({
    logger: false,
    errorHandler: countRefused,
    bulkhead: { enabled: true, concurrency: 1, maxQueueSize: 1 },
  });
  broker.createService({
    name: "busy",
    actions: { work: () => promise, ask: (ctx: Context) => ctx.call("busy.work") },
  });
  await broker.start();
  const admitted = [broker.call("busy.work"), broker.call("busy.work")];
  await expect(broker.call("busy.ask")).rejects.toMatchObject({ name: "QueueIsFullError" });
  resolve();
  await Promise.all(admitted);
  await broker.stop();
  const { values } = await metrics.bulkheadRefused.get();
  expect(values.map(({ labels, value }) => [labels.action, value])).toEqual([["busy.work", 1]]);
});

/** The little of Moleculer's registry that is used here. */
interface Nodes {
  get(id: string): { available: boolean } | undefined;
  disconnected(id: string, isUnexpected: boolean): void;
}

test("a node that stops is not lost, one that is silent is", async () => {
  const newNode = (nodeID: string, more = {}) =>
    new ServiceBroker({ nodeID, transporter: "Fake", logger: false, ...more });
  const seeing = newNode("seeing", { middlewares: [observePeers as never] });
  const peer = newNode("peer");
  const { nodes } = (seeing as unknown as { registry: { nodes: Nodes } }).registry;
  const seen = () => nodes.get("peer")?.available;
  const states = async () => {
    const lines = (await exposition()).matchAll(/^sensorium_peers\{state="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...lines].map(([, state, value]) => [state, Number(value)]));
  };
  await Promise.all([seeing.start(), peer.start()]);
  await settle(() => seen() === true);
  expect(await states()).toEqual({ available: 1, lost: 0 });
  await peer.stop();
  await settle(() => seen() === false);
  expect(await states()).toEqual({ available: 0, lost: 0 });
  const again = newNode("peer");
  await again.start();
  await settle(() => seen() === true);
  nodes.disconnected("peer", true);
  expect(await states()).toEqual({ available: 0, lost: 1 });
  await Promise.all([seeing.stop(), again.stop()]);
});
