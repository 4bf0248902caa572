import { Schema } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** That a memory became institutional; `_id` is the memory's, which does so once. */
export interface FindingDoc extends TenantDocument {
  /** Its place in the tenant's sequence, from 1. */
  seq: number;
  /** The memory's owner. */
  agent_id: string | null;
  origin: "created" | "promoted";
  from_scope: MemoryScope | null;
  recorded_at: Date;
}

/** How far an agent has read; `_id` is the agent's. Under the tenant's, the last place of what was erased (places.ts). */
export interface CursorDoc extends TenantDocument {
  seq: number;
  updated_at: Date;
}

const findings = new Schema<FindingDoc>(
  {
    _id: String,
    tenant_id: String,
    seq: Number,
    agent_id: String,
    origin: String,
    from_scope: String,
    recorded_at: Date,
  },
  { versionKey: false },
);
findings.index({ tenant_id: 1, seq: 1 }, { unique: true });

const cursors = new Schema<CursorDoc>(
  { _id: String, tenant_id: String, seq: Number, updated_at: Date },
  { versionKey: false },
);

export const FindingModel: Model<FindingDoc> = { name: "findings", schema: findings };
export const CursorModel: Model<CursorDoc> = { name: "finding_cursors", schema: cursors };
