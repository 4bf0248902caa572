import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import { originAt } from "../../../lib/http/origin.ts";

/** Returns the service's public origin: `PUBLIC_URL`, else where the gateway listens. */
export async function originOf(broker: ServiceBroker, config: Config): Promise<string> {
  if (config.PUBLIC_URL) return config.PUBLIC_URL.replace(/\/$/, "");
  if (!broker.registry.actions.isAvailable("gateway.address")) return originAt(config.HOST, config.PORT);
  return ((await broker.call("gateway.address")) as { origin: string }).origin;
}
