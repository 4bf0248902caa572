import type { ServiceBroker } from "moleculer";

/** What the broker event `live.changed` carries to every node: pages that show it look again. */
export interface LiveChange {
  tenant_id: string;
  resource: "run" | "document" | "device" | "connector";
  /** Which ones. Only of what everybody in the tenant may know of; else empty. */
  ids: string[];
}

type Teller = Pick<ServiceBroker, "broadcast">;

/** Tells those who watch the tenant (`GET /live`) that something changed. It may be lost with its node. */
export function tellLive(
  broker: Teller,
  tenant_id: string,
  resource: LiveChange["resource"],
  ids: string[] = [],
): void {
  void broker.broadcast("live.changed", { tenant_id, resource, ids } satisfies LiveChange);
}
