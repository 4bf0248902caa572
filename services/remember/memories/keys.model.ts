import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/**
 * The memory that an agent addresses by namespace and key, which `_id` combines with the agent: so there is one, also
 * when two nodes create it at once.
 */
interface MemoryKeyDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** Replaced when the memory is put again after it was forgotten, expired or superseded. */
  memory_id: t.string(),
});
schema.index({ tenant_id: 1, memory_id: 1 });

export const MemoryKeyModel: Model<MemoryKeyDoc> = {
  erasure: { with: "memories" },
  move: { stage: 0 },
  name: "memory_keys",
  schema,
};
