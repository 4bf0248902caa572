import type { Config } from "../../../config.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { operations } from "../../contracts.ts";
import { event, type ServiceFactory } from "../../runtime.ts";
import type { LiveChange } from "../live/live-change.ts";
import { serveMcp } from "../mcp/serve.ts";
import { CallerCache } from "./access/authenticate.ts";
import { cloudEventsReader } from "./body/cloudevents.ts";
import { gateway } from "./gateway.ts";
import { LiveWatchers, streamLive } from "./streams/live.ts";
import { streamDeliveries } from "./streams/sse.ts";

/** The gateway of a node, with all operations. */
export const gatewayService: ServiceFactory = (runtime) => {
  const watchers = new LiveWatchers();
  const served = operations.map((op) => withLimit(op, runtime.config));
  const { events, ...schema } = gateway(runtime, served, (broker) => ({
    callers: new CallerCache(broker, runtime.config.PUBLIC_URL),
    bodyReaders: { cloudevents: cloudEventsReader(runtime.config.EVENT_MAX_BYTES) },
    streams: {
      "deliveries.stream": streamDeliveries(broker),
      "gateway.mcp": serveMcp(runtime, operations),
      "live.watch": streamLive(watchers),
    },
  }));
  const tell = event<LiveChange>((change) => watchers.tell(change));
  return { ...schema, events: { ...events, "live.changed": tell } };
};

/** JSON takes at most six characters for a byte of text. */
const ESCAPED = 6;
const REST = 1_048_576;

function withLimit(op: Operation, config: Config): Operation {
  if (!op.maxBodySetting) return op;
  const most = config[op.maxBodySetting];
  return { ...op, maxBody: most ? ESCAPED * most + REST : Number.POSITIVE_INFINITY };
}
