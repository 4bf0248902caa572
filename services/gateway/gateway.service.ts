import { operations } from "../contracts.ts";
import type { ServiceFactory } from "../runtime.ts";
import { CallerCache } from "./authenticate.ts";
import { cloudEventsReader } from "./cloudevents.ts";
import { gateway } from "./gateway.ts";
import { streamDeliveries } from "./sse.ts";

/** The gateway of a node, with every operation there is. */
export const gatewayService: ServiceFactory = (runtime) =>
  gateway(runtime, (broker) => ({
    operations,
    callers: new CallerCache(broker),
    bodyReaders: { cloudevents: cloudEventsReader(runtime.config.EVENT_MAX_BYTES) },
    streams: { "deliveries.stream": streamDeliveries(broker) },
  }));
