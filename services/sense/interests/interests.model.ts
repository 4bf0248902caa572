import { Schema } from "mongoose";
import { derivedId } from "../../../lib/ids.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { EnrichmentDepth } from "./interests.contract.ts";

/** What an agent wants to receive (spec: Interest). */
export interface InterestDoc extends TenantDocument {
  agent_id: string;
  /** A glob over event types. */
  event_type: string;
  /** A CEL predicate, or null: the type alone decides. */
  filter_expression: string | null;
  /** 0..9; 9 first when a poll has a choice. */
  priority: number;
  enrichment_depth: EnrichmentDepth;
  /** Follows from agent, type and filter: an agent has each pair of them once. */
  conflict_key: string;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<InterestDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    event_type: String,
    filter_expression: String,
    priority: Number,
    enrichment_depth: String,
    conflict_key: String,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, conflict_key: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, created_at: 1 });

export const InterestModel: Model<InterestDoc> = { name: "interests", schema };

export function conflictKey(agent_id: string, event_type: string, filter_expression: string | null): string {
  return derivedId("int", agent_id, event_type, filter_expression ?? "");
}
