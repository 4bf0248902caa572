import type { InferSchemaType } from "mongoose";
import { date, large, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";
import type { ACTORS, OUTCOMES } from "./audit.contract.ts";

type AuditOutcome = (typeof OUTCOMES)[number];
type AuditActor = (typeof ACTORS)[number];

/** An action that must be accounted for. */
export interface AuditDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  at: date(),
  /** `<domain>.<what>` */
  action: string(),
  actor_kind: string<AuditActor>(),
  actor_id: nullable(string()),
  resource_type: nullable(string()),
  resource_id: nullable(string()),
  outcome: string<AuditOutcome>(),
  /** The error code, if refused. */
  error: nullable(string()),
  request_id: nullable(string()),
  ip: nullable(string()),
  /** JSON; ids and counts, never content. */
  details: large(string()),
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
  schema,
};
