import { Schema } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** One text of an output, and who wrote it. The text is a blob: `hash`. */
export interface Edition {
  version_id: string;
  version_num: number;
  title: string;
  hash: string;
  byte_size: number;
  change_note: string | null;
  authored_by_agent_id: string | null;
  authored_by_user_id: string | null;
  saved_at: Date;
}

/** A saved document (spec: Output). The row holds the current version whole; earlier ones are rows of their own. */
export interface OutputDoc extends TenantDocument, Edition {
  slug: string;
  /** The title was given; else it follows the text. */
  is_titled: boolean;
  /** The title as lists sort it. */
  title_key: string;
  scope: MemoryScope;
  /** Who saved it first: an agent, or a person's id. */
  agent_id: string;
  team_id: string | null;
  project_id: string | null;
  process_run_id: string | null;
  source_type: string | null;
  /** As JSON, so that no key means anything to a store. */
  metadata_json: string;
  tags: string[];
  derived_from_ids: string[];
  references_ids: string[];
  supersedes_ids: string[];
  superseded_by: string | null;
  created_at: Date;
  updated_at: Date;
  /** Raised by every change: what search has to know. */
  version: number;
  /** Nobody sees it; the row goes when all that belongs to it has gone. */
  deleted_at: Date | null;
  /** See mixins/queue.ts: what search has is behind the row. */
  queue?: string;
  attempts: number;
}

/** A version that is not the current one any more; it never changes. */
export interface VersionDoc extends TenantDocument, Edition {
  output_id: string;
}

/** A piece of an output's text, with what search has to know of it. `_id`: output, `/`, place. */
export interface ChunkDoc extends TenantDocument {
  output_id: string;
  text: string;
  title: string;
  scope: MemoryScope;
  agent_id: string;
  team_id: string | null;
  project_id: string | null;
  tags: string[];
  superseded: boolean;
  created_at: Date;
  version: number;
  changed_at: Date;
}

const edition = {
  version_id: String,
  version_num: Number,
  title: String,
  hash: String,
  byte_size: Number,
  change_note: String,
  authored_by_agent_id: String,
  authored_by_user_id: String,
  saved_at: Date,
};

const outputs = new Schema<OutputDoc>(
  {
    _id: String,
    tenant_id: String,
    ...edition,
    slug: String,
    is_titled: Boolean,
    title_key: String,
    scope: String,
    agent_id: String,
    team_id: String,
    project_id: String,
    process_run_id: String,
    source_type: String,
    metadata_json: String,
    tags: [String],
    derived_from_ids: [String],
    references_ids: [String],
    supersedes_ids: [String],
    superseded_by: String,
    created_at: Date,
    updated_at: Date,
    version: Number,
    deleted_at: Date,
    queue: String,
    attempts: Number,
  },
  { versionKey: false },
);
outputs.index({ tenant_id: 1, slug: 1 }, { unique: true });
outputs.index({ tenant_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, title_key: 1, _id: 1 });
outputs.index({ tenant_id: 1, project_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, process_run_id: 1, created_at: 1, _id: 1 });
outputs.index({ tenant_id: 1, superseded_by: 1 });
outputs.index({ tenant_id: 1, hash: 1 });
outputs.index({ queue: 1 }, { sparse: true });

const versions = new Schema<VersionDoc>(
  { _id: String, tenant_id: String, output_id: String, ...edition },
  { versionKey: false },
);
versions.index({ tenant_id: 1, output_id: 1, version_num: 1 }, { unique: true });
versions.index({ tenant_id: 1, hash: 1 });

const chunks = new Schema<ChunkDoc>(
  {
    _id: String,
    tenant_id: String,
    output_id: String,
    text: String,
    title: String,
    scope: String,
    agent_id: String,
    team_id: String,
    project_id: String,
    tags: [String],
    superseded: Boolean,
    created_at: Date,
    version: Number,
    changed_at: Date,
  },
  { versionKey: false },
);
chunks.index({ tenant_id: 1, output_id: 1, version: 1 });
// Followers, of one tenant and of all.
chunks.index({ tenant_id: 1, changed_at: 1, _id: 1 });
chunks.index({ changed_at: 1, _id: 1 });

export const OutputModel: Model<OutputDoc> = { name: "outputs", schema: outputs };
export const VersionModel: Model<VersionDoc> = { name: "output_versions", schema: versions };
export const ChunkModel: Model<ChunkDoc> = { name: "output_chunks", schema: chunks };
