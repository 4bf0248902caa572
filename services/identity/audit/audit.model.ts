import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { ACTORS, OUTCOMES } from "./audit.contract.ts";

/** An action that must be accounted for. */
export interface AuditDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  at: t.date(),
  /** `<domain>.<what>` */
  action: t.string(),
  actor_kind: t.oneOf(ACTORS),
  actor_id: t.nullable(t.string()),
  resource_type: t.nullable(t.string()),
  resource_id: t.nullable(t.string()),
  outcome: t.oneOf(OUTCOMES),
  /** The error code, if refused. */
  error: t.nullable(t.string()),
  request_id: t.nullable(t.string()),
  ip: t.nullable(t.string()),
  /** JSON; ids and counts, never content. */
  details: t.large(t.json()),
});
schema.index({ tenant_id: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, action: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, actor_id: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, resource_id: 1, at: 1, _id: 1 });
schema.index({ at: 1 });

export const AuditModel: Model<AuditDoc> = {
  erasure: { none: "who did what, without content; deleted after AUDIT_RETENTION_DAYS" },
  move: { stage: 0 },
  name: "audit",
  ids: "aud",
  schema,
};
