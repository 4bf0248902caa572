import type { InferSchemaType } from "mongoose";
import type { Scope } from "../../../lib/access/caller.ts";
import {
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";
import type { Approval } from "./keys.contract.ts";

/** An agent's API key. Only a hash of the key is stored. */
export interface KeyDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  agent_id: string(),
  /** Absent in rows from before keys had names. */
  name: optional(nullable(string())),
  hash: string(),
  prefix: string(),
  scopes: mixed<Scope[]>(),
  /** Of a connection's key; absent for one that was created, and in older rows. */
  approval: optional(mixed<Approval>()),
  /** Absent in rows from before it was recorded. */
  created_by: optional(string()),
  /** Its own limit; absent without one. */
  requests_per_minute: optional(nullable(number())),
  expires_at: nullable(date()),
  revoked_at: nullable(date()),
  last_used_at: nullable(date()),
  created_at: date(),
});
schema.index({ hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, created_at: -1 });

export const KeyModel: Model<KeyDoc> = {
  erasure: { none: "digests of keys; ends with its agent", owner: ["agent_id"] },
  move: { stage: 0 },
  name: "api_keys",
  schema,
};
