import { expect, test } from "@jest/globals";
import { ServiceBroker } from "moleculer";
import { readConfig } from "../../config.ts";
import { originOf } from "../../services/identity/tenants/origin.ts";

const NATS_URL = "nats://127.0.0.1:4222";

async function withBroker(gateway: string | null, run: (broker: ServiceBroker) => Promise<void>) {
  const broker = new ServiceBroker({ logger: false });
  if (gateway) broker.createService({ name: "gateway", actions: { address: () => ({ origin: gateway }) } });
  await broker.start();
  await run(broker).finally(() => broker.stop());
}

test("a node of a cluster that knows no gateway gives a retryable fault, not its own address", () =>
  withBroker(null, async (broker) => {
    await expect(originOf(broker, readConfig({ NATS_URL, PORT: "0" }), 100)).rejects.toMatchObject({
      type: "service_unavailable",
      data: { retry_after_seconds: 1 },
    });
    const named = readConfig({ NATS_URL, PUBLIC_URL: "https://events.example.com/" });
    expect(await originOf(broker, named)).toBe("https://events.example.com");
  }));

test("with a gateway it is the gateway's", () =>
  withBroker("http://127.0.0.1:3100", async (broker) =>
    expect(await originOf(broker, readConfig({ NATS_URL }))).toBe("http://127.0.0.1:3100"),
  ));

test("a gateway that is discovered meanwhile is waited for", () =>
  withBroker(null, async (broker) => {
    const asked = originOf(broker, readConfig({ NATS_URL }));
    const address = () => ({ origin: "http://127.0.0.1:3200" });
    broker.createService({ name: "gateway", actions: { address } });
    expect(await asked).toBe("http://127.0.0.1:3200");
  }));
