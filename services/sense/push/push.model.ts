import type { InferSchemaType } from "mongoose";
import { date, type Model, number, string, tenantSchema } from "../../../storage/model.ts";

/** An unreachable endpoint, by its agent's id; without a row it is reachable. */
export interface PushEndpointDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  endpoint: string(),
  opened_at: date(),
  probes: number(),
  next_probe_at: date(),
  last_error: string(),
});
schema.index({ tenant_id: 1 });

export const PushEndpointModel: Model<PushEndpointDoc> = {
  erasure: { none: "addresses of endpoints that cannot be reached" },
  move: { stage: 0 },
  name: "push_endpoints",
  schema,
};
