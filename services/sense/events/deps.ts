import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { EventDoc } from "./events.model.ts";

/** Dependencies of this domain's parts. */
export interface EventDeps {
  events: TenantCollection<EventDoc>;
  store: Store;
  broker: ServiceBroker;
}
