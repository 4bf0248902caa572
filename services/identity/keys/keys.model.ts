import { SCOPES } from "../../../lib/access/caller.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { Approval } from "./keys.contract.ts";

/** An agent's API key. Only a hash of the key is stored. */
export interface KeyDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  agent_id: t.string(),
  name: t.nullable(t.string()),
  hash: t.string(/^[\w-]{43}$/),
  prefix: t.string(),
  scopes: t.array(t.oneOf(SCOPES)),
  /** Of a connection's key; null for one that was created. */
  approval: t.nullable(t.mixed<Approval>()),
  /** Null for a connection's key, and the first. */
  created_by: t.nullable(t.string()),
  /** Its own limit. */
  requests_per_minute: t.nullable(t.number()),
  expires_at: t.nullable(t.date()),
  revoked_at: t.nullable(t.date()),
  last_used_at: t.nullable(t.date()),
  created_at: t.date(),
});
schema.index({ hash: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, created_at: -1 });

export const KeyModel: Model<KeyDoc> = {
  erasure: { none: "digests of keys; ends with its agent", owner: ["agent_id"] },
  move: { stage: 0 },
  name: "api_keys",
  ids: "key",
  schema,
};
