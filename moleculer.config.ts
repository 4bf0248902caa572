import { type BrokerOptions, Serializers } from "moleculer";
import type { Config } from "./config.ts";
import { Nats } from "./connectors/nats.ts";
import { betweenNodes, type FinishedCalls, moleculerMiddlewares } from "./lib/broker/between-nodes.ts";
import { PromptDiscoverer } from "./lib/broker/prompt-discoverer.ts";
import { ContractValidator } from "./lib/contract/validator.ts";
import { contextIds } from "./lib/ids.ts";
import { parseExact, stringifyExact } from "./lib/json/json.ts";
import { operationMiddlewares } from "./middlewares/operations.ts";
import { Affinity } from "./mixins/affinity.ts";
import { identity, moleculerLogger } from "./observability/log.ts";
import { countRefused, observeNats, observePeers } from "./observability/peers.ts";
import type { Tracing } from "./observability/tracing.ts";
import type { Observability } from "./services/platform/system/observability.ts";
import { FORMAT } from "./storage/format.ts";

/**
 * How the services of one node run together. Without `NATS_URL` there is no transporter: every service is in this
 * process. The short heartbeats let a killed node's keys be served elsewhere within seconds.
 */
export function brokerOptions(
  config: Config,
  observability: Observability,
  { calls, tracing }: { calls?: FinishedCalls; tracing?: Tracing | undefined } = {},
): BrokerOptions {
  const { log } = observability;
  const alone = config.NATS_URL === null;
  return {
    namespace: "sensorium",
    nodeID: identity.node,
    // The formats of rows that this node knows, for nodes of other versions.
    metadata: { format: FORMAT },
    transporter: config.NATS_URL === null ? null : new Nats(config.NATS_URL, observeNats(observability)),
    serializer: new ExactSerializer(),
    logger: { type: "Pino", options: moleculerLogger(log) },
    middlewares: [
      ...operationMiddlewares,
      ...(calls ? [calls.middleware] : []),
      ...(tracing ? [tracing.middleware] : []),
      ...(alone ? [] : [observePeers as never]),
      ...moleculerMiddlewares(),
    ],
    errorHandler: countRefused,
    validator: new ContractValidator(),
    requestTimeout: config.REQUEST_TIMEOUT_SECONDS * 1000,
    ...betweenNodes(config.MAX_WRITES_IN_FLIGHT, !alone),
    heartbeatInterval: 1,
    heartbeatTimeout: 3,
    registry: {
      preferLocal: false,
      strategy: Affinity as never,
      discoverer: new PromptDiscoverer() as never,
    },
    contextParamsCloning: false,
    uidGenerator: contextIds(),
    // A stop waits for the calls under way; main.ts says for how long.
    tracking: { enabled: true },
    // Their params are not JSON Schema, and nothing asks them.
    internalServices: false,
    skipProcessEventRegistration: true,
    // Of itself Moleculer waits a second: until then the other nodes send this one none of their events.
    ...(!alone && { started: (broker) => broker.registry?.discoverer.sendLocalNodeInfo() }),
  };
}

/** Moleculer's JSON between nodes, in which long integers keep their digits as they do within one process. */
export class ExactSerializer extends Serializers.JSON {
  override serialize(packet: object): Buffer {
    return Buffer.from(stringifyExact(packet));
  }

  override deserialize(bytes: Buffer): unknown {
    return parseExact(bytes.toString());
  }
}
