import { Schema } from "mongoose";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import { type EntryDoc, type SearchStateDoc, searchStates } from "../../../storage/search/atlas/entries.ts";
import { ENTRIES } from "../../../storage/search/atlas/pipelines.ts";
import { KINDS, type SearchKind } from "../../../storage/search/entry.ts";
import { ERASURES } from "../../../storage/search/protocol.ts";

/** The vector of an entry's text, durable so that no node computes it again. `_id` is kind and id. */
export interface EmbeddingDoc extends DocumentOf<typeof embeddings> {}

const embeddings = tenantSchema({
  kind: t.oneOf(KINDS),
  model: t.string(),
  /** Hash of the embedded text. */
  hash: t.string(),
  /** float32, little-endian. */
  vector: t.binary(),
  created_at: t.date(),
});
embeddings.index({ tenant_id: 1, _id: 1 });

/** An erasure, for nodes that were away to repeat. With `tenant_id` alone: all of a tenant. */
export interface ErasureDoc extends DocumentOf<typeof erasures> {}

const erasures = tenantSchema({
  /** Null: everything of the tenant `ids[0]`. */
  kind: t.nullable(t.oneOf(KINDS)),
  ids: t.large(t.array(t.string())),
  at: t.date(),
});
erasures.index({ at: 1, _id: 1 });

/** The entries of Atlas Search (storage/search/atlas). */
const entries = new Schema<EntryDoc>(
  { _id: String, tenant_id: String, thread: String, position: String, embedded: String },
  { versionKey: false, strict: false },
);
entries.index({ tenant_id: 1, thread: 1, position: 1 });
entries.index({ embedded: 1, tenant_id: 1, kind: 1, _id: 1 });

export const EntryModel: Model<EntryDoc> = {
  erasure: { with: "memories, documents, outputs and handoffs" },
  move: { none: "derived: search reads the rows again" },
  name: ENTRIES,
  schema: entries,
};
export const SearchStateModel: Model<SearchStateDoc> = {
  erasure: { none: "positions in the index" },
  move: { none: "positions in the index" },
  name: "search_state",
  schema: searchStates,
};
export const EmbeddingModel: Model<EmbeddingDoc> = {
  erasure: { with: "memories, documents, outputs and handoffs" },
  move: { stage: 0 },
  name: "embeddings",
  schema: embeddings,
};
export const ErasureModel: Model<ErasureDoc> = {
  erasure: { none: "ids of what was erased, until every index has applied it" },
  move: { none: "notes for the installation's indexes" },
  name: ERASURES,
  schema: erasures,
};

export function embeddingId(kind: SearchKind, id: string): string {
  return `${kind} ${id}`;
}
