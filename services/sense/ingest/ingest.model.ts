import type { InferSchemaType } from "mongoose";
import type { Static } from "typebox";
import { signingPlace } from "../../../lib/crypto/secrets.ts";
import {
  date,
  large,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  sealed,
  string,
  subdocuments,
  tenantSchema,
} from "../../../storage/model.ts";
import type { KeptHeaders } from "./kept-headers.ts";
import type { REQUEST_OUTCOMES, WebhookMapping } from "./mapping.contract.ts";

/** A sender whose signed requests become events (spec: Events 3). */
export interface WebhookDoc extends InferSchemaType<typeof webhooks> {}

const webhooks = tenantSchema({
  name: string(),
  source: string(),
  mapping: mixed<Static<typeof WebhookMapping>>(),
  /** Newest first. */
  signing_secrets: subdocuments({
    sealed: sealed((id) => signingPlace(`webhooks/${id}`)),
    ends_at: nullable(date()),
  }),
  /** Counts rotations and guards against concurrent ones. */
  signing_version: number(),
  created_at: date(),
  updated_at: date(),
});
webhooks.index({ tenant_id: 1, created_at: 1, _id: 1 });

export const WebhookModel: Model<WebhookDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "webhooks",
  schema: webhooks,
};

/** Signed content, by webhook and digest, with what its first delivery had that is not signed. */
export interface WebhookBodyDoc extends InferSchemaType<typeof bodies> {}

const bodies = tenantSchema({
  first_id: string(),
  /** Null for a missing header; absent in rows of earlier versions, as is the time. */
  topic: optional(mixed<Record<string, string | null>>()),
  first_at: optional(date()),
  /** Topics that were taken besides the first. */
  others: optional(number()),
  expires_at: date(),
});
bodies.index({ expires_at: 1 });

export const WebhookBodyModel: Model<WebhookBodyDoc> = {
  erasure: { none: "digests; deleted after DEDUPE_DAYS" },
  move: { stage: 0 },
  name: "webhook_bodies",
  schema: bodies,
};

/** The last requests of a webhook, oldest first. Its id is the webhook's. */
export interface WebhookLogDoc extends InferSchemaType<typeof logs> {}

const logs = tenantSchema({
  requests: large(
    subdocuments({
      request_id: string(),
      at: date(),
      outcome: string<(typeof REQUEST_OUTCOMES)[number]>(),
      reason: nullable(string()),
      event_id: nullable(string()),
      dead_letter_id: nullable(string()),
      events: number(),
      size: number(),
      signature: nullable(string()),
      /** Empty for a refused request. */
      headers: mixed<KeptHeaders>(),
      /** The payload is the event's data, the event itself, or lost but for a part. */
      event_is: string<"data" | "payload" | "part">(),
    }),
  ),
});

export type LoggedRequest = WebhookLogDoc["requests"][number];

export const WebhookLogModel: Model<WebhookLogDoc> = {
  erasure: { none: "the last requests of a webhook, replaced by later ones" },
  move: { stage: 0 },
  name: "webhook_logs",
  schema: logs,
};
