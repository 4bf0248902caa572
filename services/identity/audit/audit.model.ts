import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { ACTORS, OUTCOMES } from "./audit.contract.ts";

type AuditOutcome = (typeof OUTCOMES)[number];
type AuditActor = (typeof ACTORS)[number];

/** That somebody did what has to be accounted for. */
export interface AuditDoc extends TenantDocument {
  at: Date;
  /** `<domain>.<what>` */
  action: string;
  actor_kind: AuditActor;
  actor_id: string | null;
  resource_type: string | null;
  resource_id: string | null;
  outcome: AuditOutcome;
  /** Of what was refused: the code of the error. */
  error: string | null;
  request_id: string | null;
  ip: string | null;
  /** JSON; ids and counts, never content. */
  details: string;
}

const schema = new Schema<AuditDoc>(
  {
    _id: String,
    tenant_id: String,
    at: Date,
    action: String,
    actor_kind: String,
    actor_id: String,
    resource_type: String,
    resource_id: String,
    outcome: String,
    error: String,
    request_id: String,
    ip: String,
    details: String,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, action: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, actor_id: 1, at: 1, _id: 1 });
schema.index({ tenant_id: 1, resource_id: 1, at: 1, _id: 1 });
schema.index({ at: 1 });

export const AuditModel: Model<AuditDoc> = { name: "audit", schema };
