import type { InferSchemaType } from "mongoose";
import { date, type Model, number, string, tenantSchema } from "../../../storage/model.ts";

/** An endpoint that cannot be reached, by its agent's id; there is no row while it can. */
interface PushEndpointDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  endpoint: string(),
  opened_at: date(),
  probes: number(),
  next_probe_at: date(),
  last_error: string(),
});
schema.index({ tenant_id: 1 });

export const PushEndpointModel: Model<PushEndpointDoc> = { name: "push_endpoints", schema };
