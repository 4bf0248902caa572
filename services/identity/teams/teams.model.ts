import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** A group of agents that share what they remember. */
export interface TeamDoc extends TenantDocument {
  name: string;
  description: string | null;
  created_at: Date;
}

const schema = new Schema<TeamDoc>(
  { _id: String, tenant_id: String, name: String, description: String, created_at: Date },
  { versionKey: false },
);
schema.index({ tenant_id: 1, name: 1 }, { unique: true });

export const TeamModel: Model<TeamDoc> = { name: "teams", schema };
