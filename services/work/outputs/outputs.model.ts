import type { InferSchemaType } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import {
  array,
  boolean,
  date,
  type FieldTypes,
  type Model,
  nullable,
  number,
  optional,
  string,
  tenantSchema,
} from "../../../storage/model.ts";

/** A version's text and author. The text is a blob: `hash`. */
export interface Edition extends FieldTypes<typeof edition> {}

const edition = {
  version_id: string(),
  version_num: number(),
  title: string(),
  hash: string(),
  byte_size: number(),
  change_note: nullable(string()),
  authored_by_agent_id: nullable(string()),
  authored_by_user_id: nullable(string()),
  saved_at: date(),
};

/** A saved document (spec: Output). The row holds the current version; earlier ones have separate rows. */
export interface OutputDoc extends InferSchemaType<typeof outputs> {}

const outputs = tenantSchema({
  ...edition,
  slug: string(),
  /** The title was given; otherwise it follows the text. */
  is_titled: boolean(),
  /** The sort key of the title. */
  title_key: string(),
  scope: string<MemoryScope>(),
  /** The first author: an agent's or a person's id. */
  agent_id: string(),
  team_id: nullable(string()),
  project_id: nullable(string()),
  process_run_id: nullable(string()),
  source_type: nullable(string()),
  /** JSON: callers' keys must have no meaning in the store. */
  metadata_json: string(),
  tags: array(string()),
  derived_from_ids: array(string()),
  references_ids: array(string()),
  supersedes_ids: array(string()),
  superseded_by: nullable(string()),
  created_at: date(),
  updated_at: date(),
  /** Raised by every change, for search. */
  version: number(),
  /** Hidden since then; the row is deleted once all its data is. */
  deleted_at: nullable(date()),
  /** Set while search is behind the row; see mixins/queue.ts. */
  queue: optional(string()),
  attempts: number(),
});
outputs.index({ tenant_id: 1, slug: 1 }, { unique: true });
outputs.index({ tenant_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, title_key: 1, _id: 1 });
outputs.index({ tenant_id: 1, project_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, process_run_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, superseded_by: 1 });
outputs.index({ tenant_id: 1, hash: 1 });
outputs.index({ queue: 1 }, { sparse: true });

/** A former version; it never changes. */
export interface VersionDoc extends InferSchemaType<typeof versions> {}

const versions = tenantSchema({ output_id: string(), ...edition });
versions.index({ tenant_id: 1, output_id: 1, version_num: 1 }, { unique: true });
versions.index({ tenant_id: 1, hash: 1 });

/** A chunk of an output's text, with the fields that search needs. `_id`: output, `/`, position. */
export interface ChunkDoc extends InferSchemaType<typeof chunks> {}

const chunks = tenantSchema({
  output_id: string(),
  text: string(),
  title: string(),
  scope: string<MemoryScope>(),
  agent_id: string(),
  team_id: nullable(string()),
  project_id: nullable(string()),
  tags: array(string()),
  superseded: boolean(),
  created_at: date(),
  version: number(),
  changed_at: date(),
});
chunks.index({ tenant_id: 1, output_id: 1, version: 1 });
// For followers, of one tenant and of all.
chunks.index({ tenant_id: 1, changed_at: 1, _id: 1 });
chunks.index({ changed_at: 1, _id: 1 });

export const OutputModel: Model<OutputDoc> = { name: "outputs", schema: outputs };
export const VersionModel: Model<VersionDoc> = { name: "output_versions", schema: versions };
export const ChunkModel: Model<ChunkDoc> = { name: "output_chunks", schema: chunks };
