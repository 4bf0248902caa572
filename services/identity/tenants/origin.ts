import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import { unavailable } from "../../../lib/contract/faults.ts";
import { originAt } from "../../../lib/http/origin.ts";

/** A gateway that has just started may call this node before its own description has arrived here. */
const PATIENCE_MS = 5000;
const POLL_MS = 50;

/**
 * Returns the service's public origin: `PUBLIC_URL`, else where the gateway listens.
 * @throws Fault service_unavailable on a node that gets to know no gateway: nobody could call its own address
 */
export async function originOf(
  broker: ServiceBroker,
  config: Config,
  patienceMs = PATIENCE_MS,
): Promise<string> {
  if (config.PUBLIC_URL) return config.PUBLIC_URL.replace(/\/$/, "");
  if (!broker.registry.actions.isAvailable("gateway.address")) {
    if (!config.NATS_URL) return originAt(config.HOST, config.PORT);
    await broker.waitForServices("gateway", patienceMs, POLL_MS).catch(() => {
      throw unavailable("No gateway is reached from this node. Retry in 1 s.");
    });
  }
  return ((await broker.call("gateway.address")) as { origin: string }).origin;
}
