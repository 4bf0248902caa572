/** @needs nats: nodes at two servers of NATS, and the route between these. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { Nats } from "../connectors/nats.ts";
import { PromptDiscoverer } from "../lib/broker/prompt-discoverer.ts";
import { type NatsServer, startNatsMesh } from "./support/nats.ts";
import { onPath } from "./support/needs.ts";
import type { TcpProxy } from "./support/proxy.ts";
import { settle } from "./support/settle.ts";

/** Longer than a test may take: no call ends by it. */
const TIMEOUT_MS = 600_000;

(onPath("nats-server") ? describe : describe.skip)("nodes at two servers of NATS", () => {
  let servers: NatsServer[];
  let route: TcpProxy;
  let asking: ServiceBroker;
  let asked: ServiceBroker;
  const answers: (() => void)[] = [];

  beforeAll(async () => {
    ({ servers, route } = await startNatsMesh());
    [asking, asked] = servers.map(({ url }, i) => newNode(`node-${i}`, url)) as [
      ServiceBroker,
      ServiceBroker,
    ];
    asked.createService({
      name: "work",
      actions: { wait: () => new Promise<void>((resolve) => answers.push(resolve)), echo: () => "here" },
    });
    await Promise.all([asking.start(), asked.start()]);
    await asking.waitForServices("work");
    // The first heartbeat, with which counting begins.
    await settle(() => asking.registry.nodes.get("node-1").cpu !== null);
  });
  afterAll(async () => {
    for (const answer of answers) answer();
    await Promise.all([asking?.stop(), asked?.stop()]);
    for (const server of servers ?? []) await server.stop();
    await route?.stop();
  });

  function newNode(nodeID: string, url: string): ServiceBroker {
    return new ServiceBroker({
      ...{ nodeID, logger: false, requestTimeout: TIMEOUT_MS, heartbeatInterval: 1, heartbeatTimeout: 3 },
      transporter: new Nats(url, () => {}) as never,
      registry: { discoverer: new PromptDiscoverer() as never },
    });
  }

  test.each([
    ["for a moment, in which nobody is missed", 1500],
    ["until each misses the other", 6000],
  ])("calls on their way over a route that is lost %s are given up", async (_, ms) => {
    expect(await asking.call("work.echo")).toBe("here");
    const before = asking.call("work.wait");
    route.cut();
    const during = asking.call("work.echo");
    const mended = new Promise((resolve) => setTimeout(resolve, ms)).then(() => route.mend());
    for (const call of [before, during]) await expect(call).rejects.toThrow("rejected");
    await mended;
    await asking.waitForServices("work", 30_000);
    // The first ones may meet a route that is only being made.
    for (let last: unknown; last !== "here"; ) last = await asking.call("work.echo").catch(() => undefined);
  });
});
