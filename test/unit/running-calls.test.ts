import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { runningCalls } from "../../lib/broker/running-calls.ts";

let broker: ServiceBroker;
let lines: unknown[][];
let release: () => void;

beforeEach(async () => {
  lines = [];
  const log = Object.fromEntries(
    ["fatal", "error", "warn", "info", "debug", "trace"].map((level) => [
      level,
      (...args: unknown[]) => void (level === "error" && lines.push(args)),
    ]),
  );
  broker = new ServiceBroker({
    logger: { type: "Pino", options: { createLogger: () => log } } as never,
    internalMiddlewares: false,
    middlewares: [runningCalls as never, "ErrorHandler"],
    tracking: { enabled: true, shutdownTimeout: 100 },
  });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  broker.createService({
    name: "slow",
    actions: { wait: () => held, fail: () => Promise.reject(new Error("on its own")) },
  });
  await broker.start();
});
afterEach(() => release());

test("a stop waits for running calls", async () => {
  broker.options.tracking = { enabled: true, shutdownTimeout: 60_000 };
  const call = broker.call("slow.wait").then(() => "done");
  const stopped = broker.stop();
  release();
  expect(await call).toBe("done");
  await stopped;
  expect(lines).toEqual([]);
});

test("a stop that has waited long enough says for which calls", async () => {
  for (let i = 0; i < 3; i++) void broker.call("slow.wait");
  await broker.stop();
  expect(lines).toEqual([
    [{ calls: { "slow.wait": 3 }, waited_ms: 100 }, expect.stringContaining("without waiting longer")],
  ]);
});

test("calls that have ended, failed, or are not tracked hold up no stop", async () => {
  broker.options.tracking = { enabled: true, shutdownTimeout: 60_000 };
  await expect(broker.call("slow.fail")).rejects.toThrow("on its own");
  void broker.call("slow.wait", {}, { tracking: false } as never);
  await broker.stop();
  expect(lines).toEqual([]);
});
