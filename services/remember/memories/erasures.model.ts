import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** An erasure in progress: an interrupted one is resumed from this row, which is deleted when nothing is left. */
export interface MemoryErasureDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** JSON of an `EraseTarget`; null when only the files are left to scrub. */
  target: t.nullable(t.large(t.texts(t.json()))),
  /** JSON: the target's name in the audit log. */
  by: t.texts(t.json()),
  /** Memories whose rows may be deleted already while other data about them remains. */
  batch: t.large(t.array(t.string())),
  begun_at: t.date(),
  /** Until then the node that began it is working on it. */
  lease_ends_at: t.date(),
});
schema.index({ lease_ends_at: 1 });

export const MemoryErasureModel: Model<MemoryErasureDoc> = {
  erasure: { none: "an erasure in progress, which clears what it names" },
  move: { stage: 4 },
  anew: (_, lease_ends_at) => ({ lease_ends_at }),
  name: "memory_erasures",
  ids: "uuid",
  schema,
};
