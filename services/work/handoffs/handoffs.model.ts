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
  /** JSON: what callers name their keys must not mean anything to a store. */
  payload: string(),
  /** With the memories' titles as they were when it was saved. */
  citations: subdocuments({ memory_id: string(), title: string() }),
  artifacts: array(string()),
  origin_client: nullable(string()),
  bundle_id: nullable(string()),
  version_num: number(),
  pinned_at: nullable(date()),
  last_resumed_at: nullable(date()),
  expires_at: date(),
  /** The same while it is not pinned: what the reaper goes by. */
  reap_at: nullable(date()),
  created_at: date(),
  /** When it was saved last. */
  updated_at: date(),
  /** Raised by every change, for search and to guard writes. */
  version: number(),
  changed_at: date(),
  /** The seed of the request that saved it, where that had an Idempotency-Key: repeated, it saves nothing. */
  save_seed: nullable(string()),
});
schema.index({ tenant_id: 1, agent_id: 1, name: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, updated_at: -1, _id: -1 });
// For erasure of memories.
schema.index({ tenant_id: 1, "citations.memory_id": 1 });
// For bundles that are due to be removed.
schema.index({ tenant_id: 1, bundle_id: 1 });
schema.index({ reap_at: 1 });
// For search to follow.
schema.index({ changed_at: 1, _id: 1 });

export const HandoffModel: Model<HandoffDoc> = { name: "handoffs", schema };
