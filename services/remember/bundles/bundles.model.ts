import { presentAs } from "../../../lib/contract/present-as.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { BUNDLE_KINDS, Bundle } from "./bundles.contract.ts";

export type BundleKind = (typeof BUNDLE_KINDS)[number];

/** Content gathered for an agent at one time (spec: Context bundle); never changed. */
export interface BundleDoc extends DocumentOf<typeof schema> {}
export type BundleItem = BundleDoc["items"][number];

const schema = tenantSchema({
  agent_id: t.string(),
  query: t.nullable(t.text()),
  items: t.large(
    t.subdocuments({
      kind: t.oneOf(BUNDLE_KINDS),
      item_id: t.string(),
      title: t.text(),
      /** 0..1 */
      score: t.number(),
      source: t.string(),
      why: t.text(),
      rank: t.number(),
    }),
  ),
  rendered_brief: t.large(t.text()),
  degraded_reasons: t.array(t.string()),
  weights_version: t.string(),
  /** The memories among the items, for erasure. */
  memory_ids: t.array(t.string()),
  created_at: t.date(),
  /** When it is removed, unless a handoff names it then; absent if an attempt on a step names it. */
  expires_at: t.optional(t.date()),
});
// Tenant-wide queries use this index too, not only the erasure of memories.
schema.index({ tenant_id: 1, memory_ids: 1 });
// For the people who look after an agent.
schema.index({ tenant_id: 1, agent_id: 1, created_at: -1, _id: -1 });
schema.index({ expires_at: 1 }, { sparse: true });

export const BundleModel: Model<BundleDoc> = {
  erasure: {
    ...{ agent: "bundles.erase_agent", memories: "bundles.erase_memories" },
    replaced: { of: [] },
  },
  move: { stage: 2 },
  name: "bundles",
  ids: "uuid",
  schema,
};

/** Formats a bundle for its agent. */
export const present = (doc: BundleDoc) =>
  presentAs(Bundle, doc, { degraded: doc.degraded_reasons.length > 0 });
