import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A named snapshot of where an agent's work stands (spec: Handoff). */
export interface HandoffDoc extends TenantDocument {
  agent_id: string;
  name: string;
  summary: string;
  /** JSON: what callers name their keys must not mean anything to a store. */
  payload: string;
  /** With the memories' titles as they were when it was saved. */
  citations: { memory_id: string; title: string }[];
  artifacts: string[];
  origin_client: string | null;
  bundle_id: string | null;
  version_num: number;
  pinned_at: Date | null;
  last_resumed_at: Date | null;
  expires_at: Date;
  /** The same while it is not pinned: what the reaper goes by. */
  reap_at: Date | null;
  created_at: Date;
  /** When it was saved last. */
  updated_at: Date;
  /** Raised by every change, for search and to guard writes. */
  version: number;
  changed_at: Date;
  /** The seed of the request that saved it, where that had an Idempotency-Key: repeated, it saves nothing. */
  save_seed: string | null;
}

const schema = new Schema<HandoffDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    name: String,
    summary: String,
    payload: String,
    citations: [{ _id: false, memory_id: String, title: String }],
    artifacts: [String],
    origin_client: String,
    bundle_id: String,
    version_num: Number,
    pinned_at: Date,
    last_resumed_at: Date,
    expires_at: Date,
    reap_at: Date,
    created_at: Date,
    updated_at: Date,
    version: Number,
    changed_at: Date,
    save_seed: String,
  },
  { versionKey: false },
);
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
