import { Schema } from "mongoose";
import type { Static } from "typebox";
import type { SigningSecret } from "../../../lib/crypto/secrets.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { WebhookMapping } from "./ingest.contract.ts";

/** A sender whose signed requests become events (spec: Events 3). */
export interface WebhookDoc extends TenantDocument {
  name: string;
  source: string;
  mapping: Static<typeof WebhookMapping>;
  /** Newest first. */
  signing_secrets: SigningSecret[];
  /** Counts the rotations, and guards them. */
  signing_version: number;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<WebhookDoc>(
  {
    _id: String,
    tenant_id: String,
    name: String,
    source: String,
    mapping: Schema.Types.Mixed,
    signing_secrets: [{ _id: false, sealed: String, ends_at: Date }],
    signing_version: Number,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });

export const WebhookModel: Model<WebhookDoc> = { name: "webhooks", schema };
