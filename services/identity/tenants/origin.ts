import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import { unavailable } from "../../../lib/contract/faults.ts";
import { originAt } from "../../../lib/http/origin.ts";

/**
 * Returns the service's public origin: `PUBLIC_URL`, else where the gateway listens.
 *
 * @throws Fault service_unavailable on a node that knows no gateway yet: nobody could call its own address
 */
export async function originOf(broker: ServiceBroker, config: Config): Promise<string> {
  if (config.PUBLIC_URL) return config.PUBLIC_URL.replace(/\/$/, "");
  if (!broker.registry.actions.isAvailable("gateway.address")) {
    if (config.NATS_URL) throw unavailable("No gateway is reached from this node. Retry in 1 s.");
    return originAt(config.HOST, config.PORT);
  }
  return ((await broker.call("gateway.address")) as { origin: string }).origin;
}
