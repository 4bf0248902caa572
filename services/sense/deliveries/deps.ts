import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import type { DeliveryDoc } from "./deliveries.model.ts";

/** Dependencies of this domain's parts. */
export interface DeliveryDeps {
  broker: ServiceBroker;
  store: Store;
  deliveries: TenantCollection<DeliveryDoc>;
}

export interface OfAgent {
  tenant_id: string;
  agent_id: string;
}

/** The data of an event that a delivery needs. */
export interface Loaded {
  event_id: string;
  /** JSON text of the whole CloudEvent. */
  envelope: string;
  accepted_at: Date;
  /** Trace context of the publishing request, if the event has none. */
  traceparent?: string;
}
