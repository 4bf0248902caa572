import { Schema } from "mongoose";
import type { PasswordHash } from "../../../lib/crypto/password.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { Role, UserStatus } from "./users.contract.ts";

/** A person of a tenant's organisation. */
export interface UserDoc extends TenantDocument {
  /** Lower case. */
  email: string;
  display_name: string;
  role: Role;
  status: UserStatus;
  password: PasswordHash;
  /** Raised by a new password and by disabling: tokens of an older version are refused. */
  token_version: number;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<UserDoc>(
  {
    _id: String,
    tenant_id: String,
    email: String,
    display_name: String,
    role: String,
    status: String,
    password: Schema.Types.Mixed,
    token_version: Number,
    created_at: Date,
    updated_at: Date,
  },
  { versionKey: false },
);
schema.index({ email: 1, tenant_id: 1 }, { unique: true });
schema.index({ tenant_id: 1, created_at: 1, _id: 1 });

export const UserModel: Model<UserDoc> = { name: "users", schema };
