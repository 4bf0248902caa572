import type { InferSchemaType } from "mongoose";
import { boolean, date, type Model, nullable, string, tenantSchema } from "../../../storage/model.ts";

/** That somebody found a memory useful on a day: `_id` is the three of them, so that it counts once (api: Memories). */
export interface CiteDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  memory_id: string(),
  /** The agent or person. */
  cited_by: string(),
  /** The memory's owner. */
  owner_id: nullable(string()),
  /** By the owner: does not rank. */
  own: boolean(),
  originating_query_id: nullable(string()),
  at: date(),
  /** Published as `memory.cited`. */
  announced: boolean(),
  /** When the memory's counts are to be made again: at once, and when it no longer counts. */
  due_at: date(),
});
schema.index({ tenant_id: 1, memory_id: 1, at: 1 });
schema.index({ tenant_id: 1, cited_by: 1, at: 1 });
schema.index({ tenant_id: 1, owner_id: 1, at: 1 });
schema.index({ due_at: 1 });

export const CiteModel: Model<CiteDoc> = { name: "memory_cites", schema };
