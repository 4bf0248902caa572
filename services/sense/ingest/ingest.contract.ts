import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Name, page, SECRET, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";
import { CloudEvent } from "../events/events.contract.ts";

const admin = { by: "any", scope: "admin" } as const;
const path = { webhook_id: Id("whk") };

const term = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 300, description, examples: [example] });

const optionalTerm = (description: string, example: string) =>
  Type.Optional(nullable(term(description, example)));

export const Source = term(
  "Name of the sender: the second part of the event type, and the end of the webhook's URL.",
  "github",
);

export const Mapping = Type.Object(
  {
    entity: term("Third part of the event type.", "issues"),
    action: term("Fourth part of the event type.", "/action"),
    id: optionalTerm(
      "Id of the event. Default: the sender's `webhook-id`, `svix-id` or `X-GitHub-Delivery`, else a hash of the body. If " +
        "the id is not signed, the same body keeps its first id for 24 hours.",
      "/delivery/id",
    ),
    subject: optionalTerm("Subject of the event. Default: none.", "/repository/full_name"),
    data: optionalTerm("Data of the event. Default: the whole payload.", "/payload"),
  },
  {
    title: "Mapping",
    additionalProperties: false,
    description:
      "Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload (`/issue/number`) or a header " +
      "of the delivery (`header:X-GitHub-Event`). The event type is `com.<source>.<entity>.<action>` in lower case; " +
      "each run of characters other than letters, digits, `_` and `-` within a part is replaced by `_`.",
  },
);

/** Instead of a mapping: the deliveries are CloudEvents. */
export const AS_CLOUDEVENTS = "cloudevents";

export const WebhookMapping = Type.Union([
  Mapping,
  Type.Literal(AS_CLOUDEVENTS, {
    description:
      "`cloudevents`: the sender delivers CloudEvents, in structured, binary or batch mode (at most 100). They pass " +
      "unchanged, except that the webhook's id prefixes theirs: `whk_…:id`. Signatures cover the body only, not " +
      "attributes in `ce-…` headers.",
  }),
]);

const SigningSecret = Type.String({
  description: "Secret that signs the webhook's requests. Shown only once.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

const GivenSecret = Type.Optional(
  Type.String({
    ...SECRET,
    minLength: 16,
    maxLength: 256,
    pattern: "^[\\x21-\\x7e]+$",
    description: "Signing secret, for senders that generate it themselves. Default: a new one.",
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  }),
);

export const Webhook = Type.Object(
  {
    id: Id("whk"),
    name: Name,
    source: Source,
    mapping: WebhookMapping,
    url: Type.String({ format: "uri", examples: ["https://sensorium.example.com/w/acme/github"] }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Webhook" },
);

export const createWebhook = operation({
  action: "ingest.create_webhook",
  route: "POST /ingest/webhooks",
  summary: "Create a webhook",
  description: "The signing secret is returned only here. A tenant has at most 50 webhooks.",
  access: admin,
  body: { name: Name, source: Source, mapping: WebhookMapping, signing_secret: GivenSecret },
  results: { 201: Type.Object({ ...Webhook.properties, signing_secret: SigningSecret }) },
  errors: ["validation_error", "business_rule_violation"],
  secret: true,
});

export const listWebhooks = operation({
  action: "ingest.list_webhooks",
  route: "GET /ingest/webhooks",
  summary: "List webhooks, oldest first",
  access: admin,
  query: page,
  results: { 200: Type.Object({ webhooks: Type.Array(Webhook), total: Type.Integer() }) },
});

export const updateWebhook = operation({
  action: "ingest.update_webhook",
  route: "PATCH /ingest/webhooks/{webhook_id}",
  summary: "Rename or remap a webhook",
  description:
    "`mapping` replaces the whole mapping, for requests from now on. Requests that the previous one could not " +
    "map can be replayed from the dead letters.",
  access: admin,
  overQuota: true,
  path,
  body: { name: Type.Optional(Name), mapping: Type.Optional(WebhookMapping) },
  results: { 200: Webhook },
  errors: ["not_found", "validation_error"],
});

export const deleteWebhook = operation({
  action: "ingest.delete_webhook",
  route: "DELETE /ingest/webhooks/{webhook_id}",
  summary: "Delete a webhook",
  description: "Its events are kept.",
  access: admin,
  path,
  results: { 204: null },
  errors: ["not_found"],
});

export const rotateWebhook = operation({
  action: "ingest.rotate_webhook",
  route: "POST /ingest/webhooks/{webhook_id}:rotate",
  summary: "Rotate a webhook's signing secret",
  description: "Returns the new secret, only here. For 24 hours, the previous secret is accepted too.",
  access: admin,
  overQuota: true,
  path,
  body: { signing_secret: GivenSecret },
  results: { 200: Type.Object({ signing_secret: SigningSecret, previous_ends_at: Timestamp }) },
  errors: ["not_found"],
  secret: true,
});

export const testWebhook = operation({
  action: "ingest.test_webhook",
  route: "POST /ingest/webhooks/{webhook_id}:test",
  summary: "Test a webhook's mapping with a payload",
  description:
    "Returns the event that the mapping would produce, or the error. Publishes nothing and needs no signature.",
  access: admin,
  path,
  body: {
    payload: Type.Unknown({
      description: "Body that the sender would send.",
      examples: [{ action: "opened", issue: { number: 12 } }],
    }),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "Headers that the sender would send.",
        examples: [{ "X-GitHub-Event": "issues" }],
      }),
    ),
  },
  results: {
    200: Type.Object({
      event: nullable(CloudEvent),
      error: nullable(Type.String({ description: "The reason of the dead letter." })),
    }),
  },
  reads: true,
  errors: ["not_found"],
});

const WebhookResult = Type.Object(
  {
    event_id: nullable(Type.String({ description: "Null if dead-lettered." })),
    status: oneOf(["accepted", "duplicate", "dead_lettered"]),
  },
  { title: "WebhookResult" },
);

const WebhookBatchResult = Type.Array(WebhookResult, {
  title: "WebhookBatchResult",
  description: "For batches: one per event, in order.",
});

const TenantSlug = Type.String({ description: "Slug of the tenant." });
const WebhookSource = Type.String({ description: "`source` of the webhook." });

const receiving = {
  root: true,
  access: { by: "public" },
  consumes: "raw",
  results: {
    202: Type.Union([WebhookResult, WebhookBatchResult]),
  },
  errors: ["authentication_failed", "rate_limited", "business_rule_violation"],
} as const;

const signed =
  "Sign the request with the webhook's secret in one of three ways. `X-Service-Signature` (or GitHub's " +
  "`X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without the prefix " +
  "`sha256=`. Or use the headers of Standard Webhooks (`webhook-…` or `svix-…`), or `Stripe-Signature`; their timestamps " +
  "may differ by 5 minutes. Requests without a valid signature get 401, whether or not the webhook exists. Requests that " +
  "cannot be mapped are accepted and become dead letters.";

/** The body and headers of the request, as the gateway reads them. */
const delivery = {
  raw: Type.String({ description: "Body in base64." }),
  headers: Type.Record(Type.String(), Type.String(), { description: "Headers of the request." }),
};

export const receiveWebhook = operation({
  ...receiving,
  action: "ingest.receive",
  route: "POST /w/{tenant_slug}",
  summary: "Deliver a webhook from any source of the tenant",
  description: signed,
  path: { tenant_slug: TenantSlug },
  body: delivery,
  errors: [...receiving.errors],
});

export const receiveWebhookOf = operation({
  ...receiving,
  action: "ingest.receive_from",
  route: "POST /w/{tenant_slug}/{source}",
  summary: "Deliver a webhook from one source",
  description: signed,
  path: { tenant_slug: TenantSlug, source: WebhookSource },
  body: delivery,
  errors: [...receiving.errors],
});

const validating = {
  root: true,
  reads: true,
  access: { by: "public" },
  consumes: "raw",
  maxBody: 8192,
  description:
    "The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with " +
    "`WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested " +
    "`WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries must " +
    "be signed anyway. `WebHook-Request-Callback` is ignored.",
  body: delivery,
  results: {
    200: Type.Object({
      allowed_origin: nullable(Type.String({ examples: ["eventemitter.example.com"] })),
      allowed_rate: nullable(Type.String({ examples: ["120"] })),
    }),
  },
} as const;

export const validateWebhook = operation({
  ...validating,
  action: "ingest.validate",
  summary: "Request permission to deliver webhooks from any source of the tenant",
  route: "OPTIONS /w/{tenant_slug}",
  path: { tenant_slug: TenantSlug },
});

export const validateWebhookOf = operation({
  ...validating,
  action: "ingest.validate_for",
  summary: "Request permission to deliver webhooks from one source",
  route: "OPTIONS /w/{tenant_slug}/{source}",
  path: { tenant_slug: TenantSlug, source: WebhookSource },
});

export const ingestOperations = [
  createWebhook,
  listWebhooks,
  updateWebhook,
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  receiveWebhook,
  receiveWebhookOf,
  validateWebhook,
  validateWebhookOf,
] as const;
