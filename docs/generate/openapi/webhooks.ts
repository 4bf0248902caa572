import type { JsonSchema } from "../../../lib/contract/json-schema.ts";
import { CloudEvent } from "../../../services/sense/events/events.contract.ts";
import { type Components, exampleOf } from "./schemas.ts";

type Json = Record<string, unknown>;

const header = (name: string, description: string, schema: Json, example: string) => ({
  name,
  in: "header",
  required: name.startsWith("webhook-"),
  description,
  schema,
  example,
});

export const PUSH_HEADERS = [
  header(
    "webhook-id",
    "Id of the delivery, the same for every attempt. Ignore a delivery that you have handled already.",
    { type: "string", pattern: "^dlv_[A-Za-z0-9_-]{1,64}$" },
    "dlv_4fXq1mCz8Jw0bT7kLr2N",
  ),
  header(
    "webhook-timestamp",
    "Time of the attempt, in seconds since the epoch. Refuse requests that are more than five minutes off.",
    { type: "string", pattern: "^[0-9]+$" },
    "1769851800",
  ),
  header(
    "webhook-signature",
    "`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, keyed with the base64-decoded part " +
      "of the agent's signing secret after `whsec_`. For 24 hours after a rotation there are two, separated by a space.",
    { type: "string", pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
  header(
    "traceparent",
    "W3C trace context of the event, if it has one.",
    { type: "string", pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}" },
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  ),
];

const RETRIED =
  "Retried after 5 s, 30 s, 5 min and 30 min (each ±20 %), until the agent's retry budget is spent; then dead-lettered.";
const RETRY_AFTER = {
  description:
    "Seconds or a date, at most a day from now. Until then, no deliveries are sent to this endpoint.",
  schema: { type: "string" },
};

export const PUSH = {
  summary: "Deliver an event by push",
  description:
    "Sent to the `delivery_endpoint` of an agent whose `delivery_mode` is `push`, signed as Standard Webhooks. Verify the " +
    "signature over the raw body before you parse it. Depending on the agent's `push_format`, the body is the whole " +
    "CloudEvent (`structured`) or its `data`, with the attributes in `ce-*` headers (`binary`). Respond within 15 s. " +
    "Redirects are not followed, and the response body is ignored.",
};

/** Returns the requests that the service sends: the pushes to an agent's `delivery_endpoint`. */
export function webhooks(components: Components): Json {
  const event = CloudEvent as unknown as JsonSchema;
  const post = {
    operationId: "pushDelivery",
    tags: ["deliveries"],
    ...PUSH,
    security: [],
    parameters: PUSH_HEADERS,
    requestBody: {
      required: true,
      content: {
        "application/cloudevents+json": { schema: components.use(event), example: exampleOf(event) },
        "*/*": { schema: { description: "Binary mode: the event's `data`." } },
      },
    },
    responses: {
      "2XX": { description: "Acknowledges the delivery." },
      410: { description: "Stops pushes to this endpoint. Unacknowledged deliveries can be polled." },
      429: { description: RETRIED, headers: { "Retry-After": RETRY_AFTER } },
      default: { description: `Anything else. ${RETRIED}`, headers: { "Retry-After": RETRY_AFTER } },
    },
  };
  return { delivery: { post } };
}
