import type { InferSchemaType } from "mongoose";
import { date, type Model, string, tenantSchema } from "../../../storage/model.ts";

/** A body whose signature covers no id, by webhook and digest, with the id of its first delivery. */
export interface WebhookBodyDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  first_id: string(),
  expires_at: date(),
});
schema.index({ expires_at: 1 });

export const WebhookBodyModel: Model<WebhookBodyDoc> = { name: "webhook_bodies", schema };
