import { expect, test } from "@jest/globals";
import { type Context, ServiceBroker } from "moleculer";
import { metrics } from "../../observability/metrics.ts";
import { countRefused } from "../../observability/peers.ts";

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
