import type { InferSchemaType } from "mongoose";
import type { Static } from "typebox";
import {
  date,
  type Model,
  mixed,
  nullable,
  number,
  string,
  subdocuments,
  tenantSchema,
} from "../../../storage/model.ts";
import type { WebhookMapping } from "./ingest.contract.ts";

/** A sender whose signed requests become events (spec: Events 3). */
export interface WebhookDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  name: string(),
  source: string(),
  mapping: mixed<Static<typeof WebhookMapping>>(),
  /** Newest first. */
  signing_secrets: subdocuments({ sealed: string(), ends_at: nullable(date()) }),
  /** Counts rotations and guards against concurrent ones. */
  signing_version: number(),
  created_at: date(),
  updated_at: date(),
});
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });

export const WebhookModel: Model<WebhookDoc> = { name: "webhooks", schema };
