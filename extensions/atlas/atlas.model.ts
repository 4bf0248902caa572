import { Schema } from "mongoose";
import type { Model } from "../../storage/model.ts";
import { type EntryDoc, type SearchStateDoc, searchStates } from "./entries.ts";
import { ENTRIES } from "./pipelines.ts";

/** The entries of Atlas Search. */
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
