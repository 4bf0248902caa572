import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { BUNDLE_KINDS } from "./bundles.contract.ts";

export type BundleKind = (typeof BUNDLE_KINDS)[number];

export interface BundleItem {
  kind: BundleKind;
  item_id: string;
  title: string;
  /** 0..1 */
  score: number;
  source: string;
  why: string;
  rank: number;
}

/** What was gathered for an agent at one time (spec: Context bundle). What was gathered is never changed. */
export interface BundleDoc extends TenantDocument {
  agent_id: string;
  query: string | null;
  items: BundleItem[];
  rendered_brief: string;
  degraded_reasons: string[];
  weights_version: string;
  /** Those among the items, for erasure. */
  memory_ids: string[];
  created_at: Date;
  /** When it is removed, unless a handoff names it then; missing where an attempt on a step does. */
  expires_at?: Date;
}

const schema = new Schema<BundleDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    query: String,
    items: [
      {
        _id: false,
        kind: String,
        item_id: String,
        title: String,
        score: Number,
        source: String,
        why: String,
        rank: Number,
      },
    ],
    rendered_brief: String,
    degraded_reasons: [String],
    weights_version: String,
    memory_ids: [String],
    created_at: Date,
    expires_at: Date,
  },
  { versionKey: false },
);
// Whatever is kept of a tenant is found by it; this index serves the erasure of memories too.
schema.index({ tenant_id: 1, memory_ids: 1 });
schema.index({ expires_at: 1 }, { sparse: true });

export const BundleModel: Model<BundleDoc> = { name: "bundles", schema };
