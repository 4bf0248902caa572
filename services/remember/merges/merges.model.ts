import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { MergeStatus } from "./merges.contract.ts";

/** That two memories are one (spec: Merge proposal). Both proposers null: the service found it. */
export interface MergeDoc extends TenantDocument {
  proposer_user_id: string | null;
  proposer_agent_id: string | null;
  memory_a_id: string;
  memory_b_id: string;
  surviving_memory_id: string | null;
  status: MergeStatus;
  similarity: number | null;
  proposed_at: Date;
  resolved_at: Date | null;
  resolved_by_user_id: string | null;
  resolution_note: string | null;
  /** Both memories' ids, whichever is a. */
  pair: string;
  /** The pair and its tenant while it is open: two memories have one open proposal. */
  open_pair?: string;
  /** Outbox: resolved, and the memories are yet to be merged. */
  collapse_due_at?: Date;
  /** Until they are. */
  merged_content?: string;
}

const schema = new Schema<MergeDoc>(
  {
    _id: String,
    tenant_id: String,
    proposer_user_id: String,
    proposer_agent_id: String,
    memory_a_id: String,
    memory_b_id: String,
    surviving_memory_id: String,
    status: String,
    similarity: Number,
    proposed_at: Date,
    resolved_at: Date,
    resolved_by_user_id: String,
    resolution_note: String,
    pair: String,
    open_pair: String,
    collapse_due_at: Date,
    merged_content: String,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, proposed_at: 1, _id: 1 });
schema.index({ tenant_id: 1, status: 1, proposed_at: 1, _id: 1 });
schema.index({ tenant_id: 1, pair: 1 });
schema.index({ tenant_id: 1, memory_a_id: 1 });
schema.index({ tenant_id: 1, memory_b_id: 1 });
schema.index({ open_pair: 1 }, { unique: true, sparse: true });
schema.index({ collapse_due_at: 1 }, { sparse: true });

export const MergeModel: Model<MergeDoc> = { name: "merge_proposals", schema };

export function pairOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

export function openPairOf(tenant_id: string, pair: string): string {
  return `${tenant_id} ${pair}`;
}

/** A merge proposal as callers see it. */
export function present(row: MergeDoc) {
  return {
    id: row._id,
    tenant_id: row.tenant_id,
    proposer_user_id: row.proposer_user_id,
    proposer_agent_id: row.proposer_agent_id,
    memory_a_id: row.memory_a_id,
    memory_b_id: row.memory_b_id,
    surviving_memory_id: row.surviving_memory_id,
    status: row.status,
    similarity: row.similarity,
    proposed_at: row.proposed_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolved_by_user_id: row.resolved_by_user_id,
    resolution_note: row.resolution_note,
  };
}
