import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** An endpoint that cannot be reached, by its agent's id; there is no row while it can. */
interface PushEndpointDoc extends TenantDocument {
  endpoint: string;
  opened_at: Date;
  probes: number;
  next_probe_at: Date;
  last_error: string;
}

const schema = new Schema<PushEndpointDoc>(
  {
    _id: String,
    tenant_id: String,
    endpoint: String,
    opened_at: Date,
    probes: Number,
    next_probe_at: Date,
    last_error: String,
  },
  { versionKey: false },
);
schema.index({ tenant_id: 1 });

export const PushEndpointModel: Model<PushEndpointDoc> = { name: "push_endpoints", schema };
