import type { InferSchemaType } from "mongoose";
import { boolean, date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** A citation of a memory by a user on a day: `_id` combines the three, so that it counts once (api: Memories). */
export interface CiteDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  memory_id: string(),
  /** The agent or person. */
  cited_by: string(),
  /** The memory's owner. */
  owner_id: nullable(string()),
  /** By the owner: does not affect ranking. */
  own: boolean(),
  originating_query_id: nullable(string()),
  at: date(),
  /** Published as `memory.cited`. */
  announced: boolean(),
  /** When the memory's counts must be updated: at once, and when the citation no longer counts. */
  due_at: date(),
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
