import { Type } from "typebox";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Name, page, SECRET, Timestamp } from "../../../lib/contract/schema.ts";
import { CloudEvent } from "../events/events.contract.ts";
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

const WebhookRequest = Type.Object(
  {
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
  },
  { title: "WebhookRequest" },
);

export const Webhook = Type.Object(
  {
    id: Id("whk"),
    name: Name,
    source: Source,
    mapping: WebhookMapping,
    signature: nullable(WebhookSignature),
    url: Type.String({ format: "uri", examples: ["https://sensorium.example.com/w/acme/github"] }),
    last_request: nullable(WebhookRequest),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Webhook" },
);

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

const sample = {
  payload: Type.Optional(
    Type.Unknown({
      description:
        "Body that the sender would send: JSON, or the text of a form if the header `Content-Type` names one.",
      examples: [{ action: "opened", issue: { number: 12 } }],
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "Headers that the sender would send.",
      examples: [{ "X-GitHub-Event": "issues" }],
    }),
  ),
};

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
      Type.String({
        maxLength: 128,
        description:
          "Instead of a payload: one of the webhook's last requests, which was accepted, duplicate or dead-lettered.",
        examples: ["req_5dHs0vXg2mYq8ZcB1kTe"],
      }),
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
