import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import type { FaultCode } from "../../../lib/contract/faults.ts";
import { AnyText, Id, Name, page, SECRET, Timestamp } from "../../../lib/contract/schema.ts";
import { SCHEMES, SENDERS } from "../../../lib/webhooks/senders.ts";
import { CloudEvent, Differs } from "../events/events.contract.ts";
import { REQUEST_OUTCOMES, Source, WebhookMapping, WebhookSignature } from "./mapping.contract.ts";

const admin = { by: "any", scope: "admin" } as const;

const SigningSecret = Type.String({
  description: "Secret that signs the webhook's requests. Shown only once.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

const GivenSecret = Type.Optional(
  Type.String({
    ...SECRET,
    minLength: 16,
    maxLength: 300,
    description:
      "Signing secret, for senders that generate it themselves: 16 to 256 printable ASCII characters. Surrounding spaces " +
      "and quotes, and a version before `whsec_`, are removed. Default: a new one.",
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  }),
);

const OwnSignature = Type.Optional(nullable(WebhookSignature));

const WebhookRequest = component("WebhookRequest", {
  request_id: Type.String({
    description: "The `X-Request-Id` of the answer to the sender.",
    examples: ["req_5dHs0vXg2mYq8ZcB1kTe"],
  }),
  at: Timestamp,
  outcome: oneOf(REQUEST_OUTCOMES, {
    description:
      "`accepted`, `duplicate`, `dead_lettered`: signed and answered with success. `challenge`: a verification of the " +
      "address by the sender. `refused`: answered with an error, nothing was stored.",
  }),
  reason: nullable(
    Type.String({
      description: "Why it was refused or dead-lettered, or that a duplicate differs from the first event.",
      examples: ["signature does not match"],
    }),
  ),
  event_id: nullable(Id("evt")),
  dead_letter_id: nullable(Id("dlv")),
  events: Type.Integer({ description: "Events in the request: more than 1 in a batch of CloudEvents." }),
  size: Type.Integer({ description: "Bytes of the body." }),
  signature: nullable(
    Type.String({ description: "How it was signed; null if refused.", examples: ["github"] }),
  ),
});

const Webhook = component("Webhook", {
  id: Id("whk"),
  name: Name,
  source: Source,
  mapping: WebhookMapping,
  signature: nullable(WebhookSignature),
  url: Type.String({ format: "uri", examples: ["https://sensorium.example.com/w/acme/github"] }),
  last_request: nullable(WebhookRequest),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const createWebhook = operation({
  action: "ingest.create_webhook",
  route: "POST /ingest/webhooks",
  summary: "Create a webhook",
  description:
    "The signing secret is returned only here. A tenant has at most 50 webhooks. Test the mapping first: " +
    "`POST /ingest/webhooks:test`.",
  access: admin,
  outlives: true,
  body: {
    name: Name,
    source: Source,
    mapping: WebhookMapping,
    signature: OwnSignature,
    signing_secret: GivenSecret,
  },
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
  answer: Type.Object({ webhooks: Type.Array(Webhook), total: Type.Integer() }),
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
  body: { name: Type.Optional(Name), mapping: Type.Optional(WebhookMapping), signature: OwnSignature },
  answer: Webhook,
  errors: ["validation_error"],
});

export const deleteWebhook = operation({
  action: "ingest.delete_webhook",
  route: "DELETE /ingest/webhooks/{webhook_id}",
  summary: "Delete a webhook",
  description: "Its events are kept.",
  access: admin,
});

export const rotateWebhookSecret = operation({
  action: "ingest.rotate_webhook",
  route: "POST /ingest/webhooks/{webhook_id}:rotate",
  summary: "Rotate a webhook's signing secret",
  description:
    "Returns the new secret, only here. Each previous secret is accepted too for 24 hours from when it was replaced; at " +
    "most 6 secrets are valid at a time.",
  access: admin,
  outlives: true,
  overQuota: true,
  body: { signing_secret: GivenSecret },
  answer: Type.Object({ signing_secret: SigningSecret, previous_ends_at: Timestamp }),
  errors: ["business_rule_violation"],
  secret: true,
});

const sample = optional({
  payload: Type.Unknown({
    description:
      "Body that the sender would send: JSON, or the text of a form if the header `Content-Type` names one.",
    examples: [{ action: "opened", issue: { number: 12 } }],
  }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: "Headers that the sender would send.",
    examples: [{ "X-GitHub-Event": "issues" }],
  }),
});

const TestResult = Type.Object({
  event: nullable(CloudEvent),
  error: nullable(Type.String({ description: "The reason of the dead letter." })),
});

const testing = {
  access: admin,
  description:
    "Returns the event that the mapping would produce, or the error. Saves and publishes nothing and needs no signature. " +
    "A mapping that cannot work is refused as it would be when saved.",
  answer: TestResult,
  reads: true,
} as const;

export const testWebhookMapping = operation({
  ...testing,
  action: "ingest.test_mapping",
  route: "POST /ingest/webhooks:test",
  summary: "Test a mapping before creating a webhook",
  body: { source: Source, mapping: WebhookMapping, ...sample },
  errors: ["validation_error"],
});

export const testWebhook = operation({
  ...testing,
  action: "ingest.test_webhook",
  route: "POST /ingest/webhooks/{webhook_id}:test",
  summary: "Test a webhook's mapping, or another one before saving it",
  body: {
    ...sample,
    mapping: Type.Optional(WebhookMapping),
    request_id: Type.Optional(
      AnyText(
        128,
        "Instead of a payload: one of the webhook's last requests, which was accepted, duplicate or dead-lettered.",
        "req_5dHs0vXg2mYq8ZcB1kTe",
      ),
    ),
  },
});

export const listWebhookRequests = operation({
  action: "ingest.list_requests",
  route: "GET /ingest/webhooks/{webhook_id}/requests",
  summary: "List a webhook's last requests, newest first",
  description:
    "Use this to see why a sender's requests are refused. The last 50, at most a second late; of more than 50 in a second " +
    "only the last are kept. Without bodies and secrets. Requests refused with 429 for their address are not listed.",
  access: admin,
  answer: Type.Object({ requests: Type.Array(WebhookRequest) }),
});

const WebhookResult = component("WebhookResult", {
  event_id: nullable(Type.String({ description: "Null if dead-lettered." })),
  status: oneOf(["accepted", "duplicate", "dead_lettered"]),
  differs: Differs,
});

const WebhookBatchResult = Type.Array(WebhookResult, {
  title: "WebhookBatchResult",
  description: "For batches: one per event, in order.",
});

const Challenge = component(
  "WebhookChallenge",
  {},
  {
    additionalProperties: true,
    description:
      "To a verification of the address: what the sender expects, such as `challenge` (Slack) or `plainToken` and " +
      "`encryptedToken` (Zoom). Other requests of senders that expect 200 are answered with an empty text.",
  },
);

/** The senders whose handshake is of a kind. */
const titles = (kind: "challenge" | "answer") =>
  [...SENDERS.values()].flatMap(({ title, handshake }) =>
    handshake?.[kind] ? [`${title}: ${handshake.about}.`] : [],
  );

const TenantSlug = Type.String({ description: "Slug of the tenant." });
const WebhookSource = Type.String({ description: "`source` of the webhook." });

const listHeaders = () =>
  SCHEMES.slice(1)
    .map(({ header }) => `\`${header}\``)
    .join(", ");

const signed =
  "Sign the request with the webhook's secret in one of these ways. `X-Service-Signature` (or GitHub's " +
  "`X-Hub-Signature-256`) is the hex HMAC-SHA256 of the raw body, keyed with the whole secret, with or without the prefix " +
  "`sha256=`. Or sign as a known sender does, in " +
  `${listHeaders()}; ` +
  "signed timestamps may differ by 5 minutes. Requests without a valid signature get 401, whether or not the webhook exists. Requests that " +
  "cannot be mapped are accepted and become dead letters. A webhook with a preset accepts the signature of its sender only; " +
  "senders that expect 200 or 204 get it. A body may be compressed (`Content-Encoding: gzip`): the signature then covers the " +
  "uncompressed one.";

/** The body and headers of a raw request, as the gateway reads them. */
export const delivery = {
  raw: Type.String({ description: "Body in base64." }),
  headers: Type.Record(Type.String(), Type.String(), { description: "Headers of the request." }),
  target: Type.Optional(Type.String({ description: "Path and query of the request, as received." })),
};

const atAddress = { root: true, access: { by: "public" }, consumes: "raw", body: delivery } as const;

const receiving = {
  ...atAddress,
  results: {
    200: Challenge,
    202: Type.Union([WebhookResult, WebhookBatchResult]),
    204: null,
  },
  description: signed,
  errors: ["authentication_failed", "rate_limited", "business_rule_violation"] as FaultCode[],
} as const;

export const receiveWebhook = operation({
  ...receiving,
  action: "ingest.receive",
  route: "POST /w/{tenant_slug}",
  summary: "Deliver a webhook from any source of the tenant",
  path: { tenant_slug: TenantSlug },
});

export const receiveWebhookFromSource = operation({
  ...receiving,
  action: "ingest.receive_from",
  route: "POST /w/{tenant_slug}/{source}",
  summary: "Deliver a webhook from one source",
  path: { tenant_slug: TenantSlug, source: WebhookSource },
});

const verifying = {
  ...atAddress,
  reads: true,
  maxBody: 8192,
  description: `Answers a sender that verifies the address:\n\n${titles("challenge")
    .map((each) => `- ${each}`)
    .join("\n")}\n\nOther requests get 405.`,
  answer: Challenge,
  alsoProduces: "text/plain",
  errors: ["authentication_failed", "rate_limited"] as FaultCode[],
} as const;

export const verifyWebhook = operation({
  ...verifying,
  action: "ingest.verify",
  summary: "Verify the address for webhooks from any source of the tenant",
  route: "GET /w/{tenant_slug}",
  path: { tenant_slug: TenantSlug },
});

export const verifyWebhookForSource = operation({
  ...verifying,
  action: "ingest.verify_for",
  summary: "Verify the address for webhooks from one source",
  route: "GET /w/{tenant_slug}/{source}",
  path: { tenant_slug: TenantSlug, source: WebhookSource },
});

const validating = {
  ...atAddress,
  reads: true,
  maxBody: 8192,
  description:
    "The handshake of CloudEvents Web Hooks for Event Delivery. A request with `WebHook-Request-Origin` is answered with " +
    "`WebHook-Allowed-Origin` and `WebHook-Allowed-Rate` (webhooks per minute, at most the requested " +
    "`WebHook-Request-Rate`, or `*`). The answer does not depend on whether the webhook exists, because deliveries must " +
    "be signed anyway. `WebHook-Request-Callback` is ignored.",
  answer: Type.Object({
    allowed_origin: nullable(Type.String({ examples: ["eventemitter.example.com"] })),
    allowed_rate: nullable(Type.String({ examples: ["120"] })),
  }),
} as const;

export const validateWebhookOrigin = operation({
  ...validating,
  action: "ingest.validate",
  summary: "Request permission to deliver webhooks from any source of the tenant",
  route: "OPTIONS /w/{tenant_slug}",
  path: { tenant_slug: TenantSlug },
});

export const validateWebhookOriginForSource = operation({
  ...validating,
  action: "ingest.validate_for",
  summary: "Request permission to deliver webhooks from one source",
  route: "OPTIONS /w/{tenant_slug}/{source}",
  path: { tenant_slug: TenantSlug, source: WebhookSource },
});
