import type { Static } from "typebox";
import { signingPlace } from "../../../lib/crypto/secrets.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { KeptHeaders } from "./kept-headers.ts";
import { type OwnSignature, REQUEST_OUTCOMES, type WebhookMapping } from "./mapping.contract.ts";

/** A sender whose signed requests become events (spec: Events 3). */
export interface WebhookDoc extends DocumentOf<typeof webhooks> {}

const webhooks = tenantSchema({
  name: t.string(),
  source: t.string(),
  mapping: t.mixed<Static<typeof WebhookMapping>>(),
  /** Null for that of the mapping. */
  signature: t.nullable(t.mixed<OwnSignature>()),
  /** Newest first. */
  signing_secrets: t.subdocuments({
    sealed: t.sealed((id) => signingPlace(`webhooks/${id}`)),
    ends_at: t.nullable(t.date()),
  }),
  /** Counts rotations and guards against concurrent ones. */
  signing_version: t.number(),
  created_at: t.date(),
  updated_at: t.date(),
});
webhooks.index({ tenant_id: 1, created_at: 1, _id: 1 });

export const WebhookModel: Model<WebhookDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "webhooks",
  ids: "whk",
  schema: webhooks,
};

/** Signed content, by webhook and digest, with what its first delivery had that is not signed. */
export interface WebhookBodyDoc extends DocumentOf<typeof bodies> {}

const bodies = tenantSchema({
  first_id: t.string(),
  /** Null for a missing header. */
  topic: t.mixed<Record<string, string | null>>(),
  first_at: t.date(),
  /** Topics that were taken besides the first. */
  others: t.number(),
  expires_at: t.date(),
});
bodies.index({ expires_at: 1 });

export const WebhookBodyModel: Model<WebhookBodyDoc> = {
  erasure: { none: "digests; deleted after DEDUPE_DAYS" },
  move: { stage: 0 },
  name: "webhook_bodies",
  schema: bodies,
};

/** The last requests of a webhook, oldest first. Its id is the webhook's. */
export interface WebhookLogDoc extends DocumentOf<typeof logs> {}

const logs = tenantSchema({
  requests: t.large(
    t.subdocuments({
      request_id: t.string(),
      at: t.date(),
      outcome: t.oneOf(REQUEST_OUTCOMES),
      reason: t.nullable(t.text()),
      event_id: t.nullable(t.string()),
      dead_letter_id: t.nullable(t.string()),
      events: t.number(),
      size: t.number(),
      signature: t.nullable(t.string()),
      /** Empty for a refused request. */
      headers: t.texts(t.mixed<KeptHeaders>()),
      /** The payload is the event's data, the event itself, or lost but for a part. */
      event_is: t.oneOf(["data", "payload", "part"]),
    }),
  ),
});

export type LoggedRequest = WebhookLogDoc["requests"][number];

export const WebhookLogModel: Model<WebhookLogDoc> = {
  erasure: { replaced: { of: [], flush: "ingest.flush" } },
  move: { stage: 0 },
  name: "webhook_logs",
  schema: logs,
};
