import { presentAs } from "../../../lib/contract/present-as.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { MERGE_STATUSES, MergeProposal } from "./merges.contract.ts";

/** A proposal that two memories are duplicates (spec: Merge proposal). Without proposers the service found it. */
export interface MergeDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  proposer_user_id: t.nullable(t.string()),
  proposer_agent_id: t.nullable(t.string()),
  memory_a_id: t.string(),
  memory_b_id: t.string(),
  surviving_memory_id: t.nullable(t.string()),
  status: t.oneOf(MERGE_STATUSES),
  similarity: t.nullable(t.number()),
  proposed_at: t.date(),
  resolved_at: t.nullable(t.date()),
  resolved_by_user_id: t.nullable(t.string()),
  resolution_note: t.nullable(t.text()),
  /** Both memories' ids, in an order independent of a and b. */
  pair: t.string(),
  /** The pair and its tenant while open: two memories have at most one open proposal. */
  open_pair: t.optional(t.string()),
  /** Outbox: resolved, but the memories are not merged yet. */
  collapse_due_at: t.optional(t.date()),
  /** Set until they are merged. */
  merged_content: t.optional(t.large(t.text())),
});
schema.index({ tenant_id: 1, proposed_at: 1, _id: 1 });
schema.index({ tenant_id: 1, status: 1, proposed_at: 1, _id: 1 });
schema.index({ tenant_id: 1, pair: 1 });
schema.index({ tenant_id: 1, memory_a_id: 1 });
schema.index({ tenant_id: 1, memory_b_id: 1 });
schema.index({ open_pair: 1 }, { unique: true, sparse: true });
schema.index({ collapse_due_at: 1 }, { sparse: true });

export const MergeModel: Model<MergeDoc> = {
  erasure: { memories: "merges.erase_memories", replaced: { of: [] } },
  move: { stage: 2 },
  anew: ({ tenant_id, memory_a_id, memory_b_id, open_pair }) => {
    const pair = pairKey(memory_a_id, memory_b_id);
    return { pair, ...(open_pair && { open_pair: openPairKey(tenant_id, pair) }) };
  },
  name: "merge_proposals",
  ids: "uuid",
  schema,
};

/** The proposals, and the store's clock. */
export interface Merges {
  proposals: TenantCollection<MergeDoc>;
  now(): Date;
}

export function pairKey(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

export function openPairKey(tenant_id: string, pair: string): string {
  return `${tenant_id} ${pair}`;
}

/** Formats a merge proposal for callers. */
export const present = (row: MergeDoc) => presentAs(MergeProposal, row);
