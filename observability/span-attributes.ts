import type { Attributes } from "@opentelemetry/api";
import type { CloudEvent } from "../lib/cloudevents/cloudevents.ts";
import type { AcknowledgementCounts, TracedPush, TracedRequest } from "./tracing.ts";

/** Destination of published and delivered events, in the messaging conventions. */
export const DESTINATION = "events";

const MESSAGING: Attributes = {
  "messaging.system": "sensorium",
  "messaging.destination.name": DESTINATION,
};

/** Attributes of a server span, without the query, which may contain search terms. */
export function requestAttributes(request: TracedRequest): Attributes {
  const { method, route, path, scheme, host, client_address, peer_address } = request;
  const server = host === undefined ? null : URL.parse(`${scheme}://${host}`);
  return {
    "http.request.method": method,
    "http.route": route,
    "url.path": path,
    "url.scheme": scheme,
    "server.address": server?.hostname,
    "server.port": server ? portOf(server) : undefined,
    "client.address": client_address,
    "network.peer.address": peer_address,
    "network.protocol.version": request.protocol_version,
    "user_agent.original": request.user_agent,
  };
}

/** Attributes of a client span, without credentials and the query of the endpoint's address, which may be secrets. */
export function pushAttributes({ url: text, delivery_id, attempt_count }: TracedPush): Attributes {
  const url = new URL(text);
  return {
    "http.request.method": "POST",
    "url.full": url.origin + url.pathname,
    "server.address": url.hostname,
    "server.port": portOf(url),
    "sensorium.delivery.id": delivery_id,
    "sensorium.delivery.attempt": attempt_count,
  };
}

export function publishAttributes(): Attributes {
  return { ...MESSAGING, "messaging.operation.type": "send", "messaging.operation.name": "publish" };
}

/** Attributes of an answered publish: one event, or a batch. */
export function publishedAttributes(params: unknown, result: unknown): Attributes {
  const { event, events } = params as { event?: CloudEvent; events?: unknown[] };
  if (events) return { "messaging.batch.message_count": events.length };
  return {
    "messaging.message.id": (result as { event_id?: string } | undefined)?.event_id,
    "cloudevents.event_id": textOrNone(event?.id),
    "cloudevents.event_source": textOrNone(event?.source),
    "cloudevents.event_type": textOrNone(event?.type),
    "cloudevents.event_spec_version": textOrNone(event?.specversion),
  };
}

export function deliveryAttributes(delivery: AcknowledgementCounts): Attributes {
  return {
    ...MESSAGING,
    "messaging.operation.type": "receive",
    "messaging.operation.name": "deliver",
    "messaging.destination.subscription.name": delivery.agent_id,
    "messaging.message.id": delivery.event_id,
    "sensorium.delivery.id": delivery.delivery_id,
    "sensorium.delivery.attempt": delivery.attempt_count,
  };
}

function portOf({ port, protocol }: URL): number {
  return port ? Number(port) : protocol === "https:" ? 443 : 80;
}

/** Published events are not validated yet. */
function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
