import { Schema } from "mongoose";
import type { Scope } from "../../../lib/access/caller.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** An agent's API key. Of the key itself only a hash is kept. */
export interface KeyDoc extends TenantDocument {
  agent_id: string;
  hash: string;
  prefix: string;
  scopes: Scope[];
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

const schema = new Schema<KeyDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    hash: String,
    prefix: String,
    scopes: { type: Schema.Types.Mixed },
    expires_at: Date,
    revoked_at: Date,
    last_used_at: Date,
    created_at: Date,
  },
  { versionKey: false },
);
schema.index({ hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, created_at: -1 });

export const KeyModel: Model<KeyDoc> = { name: "api_keys", schema };
