import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A body whose signature covers no id, by webhook and digest: the id under which it first came. */
export interface WebhookBodyDoc extends TenantDocument {
  first_id: string;
  expires_at: Date;
}

const schema = new Schema<WebhookBodyDoc>(
  { _id: String, tenant_id: String, first_id: String, expires_at: Date },
  { versionKey: false },
);
schema.index({ expires_at: 1 });

export const WebhookBodyModel: Model<WebhookBodyDoc> = { name: "webhook_bodies", schema };
