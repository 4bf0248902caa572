import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** An unreachable endpoint, by its agent's id; without a row it is reachable. */
export interface PushEndpointDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  endpoint: t.string(),
  opened_at: t.date(),
  probes: t.number(),
  next_probe_at: t.date(),
  last_error: t.string(),
});
schema.index({ tenant_id: 1 });

export const PushEndpointModel: Model<PushEndpointDoc> = {
  erasure: { none: "addresses of endpoints that cannot be reached" },
  move: { stage: 0 },
  name: "push_endpoints",
  schema,
};
