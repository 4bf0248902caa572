import { afterEach, expect, test } from "@jest/globals";
import { type Context, ServiceBroker } from "moleculer";
import { callTimeouts } from "../../lib/broker/call-timeout.ts";

let broker: ServiceBroker;

async function start(requestTimeout: number): Promise<void> {
  broker = new ServiceBroker({
    logger: false,
    requestTimeout,
    internalMiddlewares: false,
    middlewares: [callTimeouts as never, "ErrorHandler"],
  });
  broker.createService({
    name: "slow",
    actions: {
      never: () => new Promise(() => {}),
      patient: { timeout: 0, handler: (ctx: Context) => ctx.options.timeout } as never,
      prompt: (ctx: Context) => ctx.options.timeout,
      fails: () => Promise.reject(new Error("on its own")),
      nested: (ctx: Context) => ctx.call("slow.never"),
    },
  });
  await broker.start();
}

afterEach(() => broker.stop());

test("a call that takes longer than its own or the broker's timeout is refused by name", async () => {
  await start(20);
  const refused = { name: "RequestTimeoutError", data: { action: "slow.never" } };
  await expect(broker.call("slow.never")).rejects.toMatchObject(refused);
  await expect(broker.call("slow.never", {}, { timeout: 1 })).rejects.toMatchObject(refused);
});

test("an action's own timeout goes before the broker's, and 0 is none", async () => {
  await start(5000);
  expect(await broker.call("slow.prompt")).toBe(5000);
  expect(await broker.call("slow.patient")).toBe(0);
  expect(await broker.call("slow.prompt", {}, { timeout: 100 })).toBe(100);
});

test("a failure in time stays what it is", async () => {
  await start(5000);
  await expect(broker.call("slow.fails")).rejects.toThrow("on its own");
});

test("a call made by a timed call ends with it at the latest", async () => {
  await start(50);
  await expect(broker.call("slow.nested")).rejects.toMatchObject({ name: "RequestTimeoutError" });
});
