import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A citation of a memory by a user on a day: `_id` combines the three, so that it counts once (api: Memories). */
export interface CiteDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  memory_id: t.string(),
  /** The agent or person. */
  cited_by: t.string(),
  /** The memory's owner. */
  owner_id: t.nullable(t.string()),
  /** By the owner: does not affect ranking. */
  own: t.boolean(),
  originating_query_id: t.nullable(t.string()),
  at: t.date(),
  /** Published as `memory.cited`. */
  announced: t.boolean(),
  /** When the memory's counts must be updated: at once, and when the citation no longer counts. */
  due_at: t.date(),
});
schema.index({ tenant_id: 1, memory_id: 1, at: 1 });
schema.index({ tenant_id: 1, cited_by: 1, at: 1 });
schema.index({ tenant_id: 1, owner_id: 1, at: 1 });
schema.index({ due_at: 1 });

export const CiteModel: Model<CiteDoc> = {
  erasure: { with: "memories" },
  move: { stage: 2 },
  name: "memory_cites",
  schema,
};
