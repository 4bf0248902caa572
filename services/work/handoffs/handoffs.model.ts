import type { InferSchemaType } from "mongoose";
import {
  array,
  date,
  type Model,
  nullable,
  number,
  string,
  subdocuments,
  tenantSchema,
} from "../../../storage/model.ts";

/** A named snapshot of where an agent's work stands (spec: Handoff). */
export interface HandoffDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  agent_id: string(),
  name: string(),
  summary: string(),
  /** JSON: callers' keys must have no meaning in the store. */
  payload: string(),
  /** With the memories' titles as of the last save. */
  citations: subdocuments({ memory_id: string(), title: string() }),
  artifacts: array(string()),
  origin_client: nullable(string()),
  bundle_id: nullable(string()),
  version_num: number(),
  pinned_at: nullable(date()),
  last_resumed_at: nullable(date()),
  expires_at: date(),
  /** `expires_at` unless pinned: used by the reaper. */
  reap_at: nullable(date()),
  created_at: date(),
  /** When it was saved last. */
  updated_at: date(),
  /** Raised by every change, for search and to guard writes. */
  version: number(),
  changed_at: date(),
  /** Seed of the request that saved it, if that had an Idempotency-Key: a repetition saves nothing. */
  save_seed: nullable(string()),
});
schema.index({ tenant_id: 1, agent_id: 1, name: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, updated_at: -1, _id: -1 });
// For erasure of memories.
schema.index({ tenant_id: 1, "citations.memory_id": 1 });
// For bundles that are due for removal.
schema.index({ tenant_id: 1, bundle_id: 1 });
schema.index({ reap_at: 1 });
// For search's catch-up.
schema.index({ changed_at: 1, _id: 1 });

export const HandoffModel: Model<HandoffDoc> = { name: "handoffs", schema };
