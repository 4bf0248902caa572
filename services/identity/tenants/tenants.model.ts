import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { TenantStatus } from "./tenants.contract.ts";

/** A tenant. `tenant_id` is its own `_id`. */
export interface TenantDoc extends TenantDocument {
  /** Names it in URLs; its id once it is erased, so that the slug is free again. */
  slug: string;
  name: string;
  status: TenantStatus;
  /** Raised by every change of interests, feeds, members and agents, before it answers. */
  routing_version: number;
  created_at: Date;
  updated_at: Date;
  /** When its rows are to be erased (again): set as long as a node may still be writing some. */
  erase_due_at?: Date;
}

const schema = new Schema<TenantDoc>(
  {
    _id: String,
    tenant_id: String,
    slug: String,
    name: String,
    status: String,
    routing_version: Number,
    created_at: Date,
    updated_at: Date,
    erase_due_at: Date,
  },
  { versionKey: false },
);
schema.index({ slug: 1 }, { unique: true });
schema.index({ erase_due_at: 1 }, { sparse: true });

export const TenantModel: Model<TenantDoc> = { name: "tenants", schema };
