import type { ServiceBroker } from "moleculer";

/** Payload of the broker event `live.changed`, sent to every node: pages that show the resource reload it. */
export interface LiveChange {
  tenant_id: string;
  resource: "run" | "document" | "device" | "connector";
  /** The ids; empty unless everyone in the tenant may know of them. */
  ids: string[];
}

type Teller = Pick<ServiceBroker, "broadcast">;

/** Notifies those who watch the tenant (`GET /live`) of a change. It may be lost with its node. */
export function tellLive(
  broker: Teller,
  tenant_id: string,
  resource: LiveChange["resource"],
  ids: string[] = [],
): void {
  void broker.broadcast("live.changed", { tenant_id, resource, ids } satisfies LiveChange);
}
