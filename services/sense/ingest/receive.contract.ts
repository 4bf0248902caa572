import { Type } from "typebox";
import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { SCHEMES, SENDERS } from "../../../lib/webhooks/senders.ts";
import { Differs } from "../events/events.contract.ts";

const WebhookResult = Type.Object(
  {
    event_id: nullable(Type.String({ description: "Null if dead-lettered." })),
    status: oneOf(["accepted", "duplicate", "dead_lettered"]),
    differs: Differs,
  },
  { title: "WebhookResult" },
);

const WebhookBatchResult = Type.Array(WebhookResult, {
  title: "WebhookBatchResult",
  description: "For batches: one per event, in order.",
});

const Challenge = Type.Object(
  {},
  {
    title: "WebhookChallenge",
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

const receiving = {
  root: true,
  access: { by: "public" },
  consumes: "raw",
  results: {
    200: Challenge,
    202: Type.Union([WebhookResult, WebhookBatchResult]),
    204: null,
  },
  errors: ["authentication_failed", "rate_limited", "business_rule_violation"],
} as const;

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

export const receiveWebhookFromSource = operation({
  ...receiving,
  action: "ingest.receive_from",
  route: "POST /w/{tenant_slug}/{source}",
  summary: "Deliver a webhook from one source",
  description: signed,
  path: { tenant_slug: TenantSlug, source: WebhookSource },
  body: delivery,
  errors: [...receiving.errors],
});

const verifying = {
  root: true,
  reads: true,
  access: { by: "public" },
  consumes: "raw",
  maxBody: 8192,
  description: `Answers a sender that verifies the address:\n\n${titles("challenge")
    .map((each) => `- ${each}`)
    .join("\n")}\n\nOther requests get 405.`,
  body: delivery,
  answer: Challenge,
  alsoProduces: "text/plain",
  errors: ["authentication_failed", "rate_limited"],
} as const;

export const verifyWebhook = operation({
  ...verifying,
  action: "ingest.verify",
  summary: "Verify the address for webhooks from any source of the tenant",
  route: "GET /w/{tenant_slug}",
  path: { tenant_slug: TenantSlug },
  errors: [...verifying.errors],
});

export const verifyWebhookForSource = operation({
  ...verifying,
  action: "ingest.verify_for",
  summary: "Verify the address for webhooks from one source",
  route: "GET /w/{tenant_slug}/{source}",
  path: { tenant_slug: TenantSlug, source: WebhookSource },
  errors: [...verifying.errors],
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
