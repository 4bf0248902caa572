import { Schema } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
import type { Audience, DocumentStatus, Sensitivity } from "./documents.contract.ts";

/** Where documents come from: every agent and person has a source of its own. */
export interface SourceDoc extends TenantDocument {
  name: string;
  /** The agent or the person whose source it is. */
  owner_id: string;
  created_at: Date;
}

/** Who may see a document, as for any scoped row; the sensitivity says which scope it has. */
interface Seen {
  scope: MemoryScope;
  /** The uploader; a person's id where it was a person. */
  agent_id: string;
  team_id: string | null;
}

/** An uploaded file (spec: Knowledge document and chunk). */
export interface DocumentDoc extends TenantDocument, Seen {
  source_id: string;
  source_name: string;
  filename: string;
  mime_type: string;
  sensitivity: Sensitivity;
  audience: Audience;
  /** Whom it is about, for erasure; documents from before that was asked have none. */
  subject?: string | null;
  hash: string;
  byte_size: number;
  /** `deleted`: nobody sees it; the row stays, emptied, to tell since when citations of it are stale. */
  status: DocumentStatus | "deleted";
  error: string | null;
  version_num: number;
  chunk_count: number;
  superseded_by: string | null;
  /** When it was superseded or deleted. */
  stale_since: Date | null;
  created_at: Date;
  ingested_at: Date | null;
  /** Source and bytes: once there while the document stands. */
  live_key?: string;
  /** Source, name and version: of two uploads at once each has a version of its own. Older rows have none. */
  version_key?: string;
  /** Its place in the queue of work and the lease of whoever works on it (queue.ts); absent when nothing is to do. */
  queue?: string;
  /** How often the work failed since it last went on. */
  attempts: number;
}

/** A piece of a document's text, with what search has to know of it. */
export interface ChunkDoc extends TenantDocument, Seen {
  document_id: string;
  source_id: string;
  page_number: number | null;
  char_offset: number;
  char_length: number;
  chunk_index: number;
  text: string;
  filename: string;
  /** Labels such as `regions:emea`. */
  labels: string[];
  /** False from when the document is superseded. */
  searched: boolean;
  version: number;
  created_at: Date;
  changed_at: Date;
}

const sources = new Schema<SourceDoc>(
  { _id: String, tenant_id: String, name: String, owner_id: String, created_at: Date },
  { versionKey: false },
);

const documents = new Schema<DocumentDoc>(
  {
    _id: String,
    tenant_id: String,
    scope: String,
    agent_id: String,
    team_id: String,
    source_id: String,
    source_name: String,
    filename: String,
    mime_type: String,
    sensitivity: String,
    audience: Schema.Types.Mixed,
    subject: String,
    hash: String,
    byte_size: Number,
    status: String,
    error: String,
    version_num: Number,
    chunk_count: Number,
    superseded_by: String,
    stale_since: Date,
    created_at: Date,
    ingested_at: Date,
    live_key: String,
    version_key: String,
    queue: String,
    attempts: Number,
  },
  { versionKey: false },
);
documents.index({ tenant_id: 1, created_at: -1, _id: -1 });
documents.index({ tenant_id: 1, source_id: 1, filename: 1, version_num: 1 });
documents.index({ tenant_id: 1, hash: 1 });
documents.index({ tenant_id: 1, subject: 1 });
documents.index({ live_key: 1 }, { unique: true, sparse: true });
documents.index({ version_key: 1 }, { unique: true, sparse: true });
documents.index({ queue: 1 }, { sparse: true });

const chunks = new Schema<ChunkDoc>(
  {
    _id: String,
    tenant_id: String,
    scope: String,
    agent_id: String,
    team_id: String,
    document_id: String,
    source_id: String,
    page_number: Number,
    char_offset: Number,
    char_length: Number,
    chunk_index: Number,
    text: String,
    filename: String,
    labels: [String],
    searched: Boolean,
    version: Number,
    created_at: Date,
    changed_at: Date,
  },
  { versionKey: false },
);
chunks.index({ tenant_id: 1, document_id: 1, chunk_index: 1 });
// Followers, of one tenant and of all.
chunks.index({ tenant_id: 1, changed_at: 1, _id: 1 });
chunks.index({ changed_at: 1, _id: 1 });

export const SourceModel: Model<SourceDoc> = { name: "document_sources", schema: sources };
export const DocumentModel: Model<DocumentDoc> = { name: "documents", schema: documents };
export const ChunkModel: Model<ChunkDoc> = { name: "document_chunks", schema: chunks };
