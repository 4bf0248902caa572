import { ownerIds } from "../../../lib/access/caller.ts";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { newUuid } from "../../../lib/ids.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import { labelsOf } from "./audience.ts";
import type { Piece } from "./chunks.ts";
import { type Audience, Chunk, Document, type Loss, SENSITIVITIES, STATUSES } from "./documents.contract.ts";

/** A source of documents: each agent and person has one. */
export interface SourceDoc extends DocumentOf<typeof sources> {}

const sources = tenantSchema({
  name: t.string(),
  /** The agent or person who owns the source. */
  owner_id: t.string(),
  created_at: t.date(),
});

/** The readers of a document, as for any scoped row; the sensitivity determines the scope. */
const seen = {
  scope: t.oneOf(MEMORY_SCOPES),
  /** The uploader: an agent's or a person's id. */
  agent_id: t.string(),
  team_id: t.nullable(t.string()),
};

/** An uploaded file (spec: Knowledge document and chunk). */
export interface DocumentDoc extends DocumentOf<typeof documents> {}

const documents = tenantSchema({
  ...seen,
  source_id: t.string(),
  source_name: t.string(),
  filename: t.text(),
  mime_type: t.string(),
  sensitivity: t.oneOf(SENSITIVITIES),
  audience: t.large(t.mixed<Audience>()),
  /** The subject, for erasure; absent once the document is deleted. */
  subject: t.optional(t.nullable(t.text())),
  hash: t.string(),
  byte_size: t.number(),
  /** `deleted`: hidden; the emptied row stays to report since when citations of it are stale. */
  status: t.oneOf([...STATUSES, "deleted"]),
  error: t.nullable(t.text()),
  /** Parts of the file that are not read; absent before it is read. */
  losses: t.optional(t.large(t.texts(t.mixed<Loss[]>()))),
  version_num: t.number(),
  chunk_count: t.number(),
  superseded_by: t.nullable(t.string()),
  /** When it was superseded or deleted. */
  stale_since: t.nullable(t.date()),
  created_at: t.date(),
  ingested_at: t.nullable(t.date()),
  /** Source and bytes: unique while the document is live. */
  live_key: t.optional(t.string()),
  /** Source, name and version: concurrent uploads get different versions. Absent once it is deleted. */
  version_key: t.optional(t.text()),
  /** Queue position and lease of its worker (queue.ts); absent when nothing is to do. */
  queue: t.optional(t.string()),
  /** Present while a change of its access must still reach chunks, search and memories. */
  access_change: t.optional(t.string()),
  /** Failed tries since the last progress. */
  attempts: t.number(),
});
documents.index({ tenant_id: 1, created_at: -1, _id: -1 });
documents.index({ tenant_id: 1, source_id: 1, filename: 1, version_num: 1 });
documents.index({ tenant_id: 1, hash: 1 });
documents.index({ tenant_id: 1, subject: 1 });
documents.index({ live_key: 1 }, { unique: true, sparse: true });
documents.index({ version_key: 1 }, { unique: true, sparse: true });
documents.index({ queue: 1 }, { sparse: true });

/** A chunk of a document's text, with the fields that search needs. */
export interface ChunkDoc extends DocumentOf<typeof chunks> {}

const chunks = tenantSchema({
  ...seen,
  document_id: t.string(),
  source_id: t.string(),
  page_number: t.nullable(t.number()),
  char_offset: t.number(),
  char_length: t.number(),
  chunk_index: t.number(),
  text: t.large(t.text()),
  filename: t.text(),
  /** Labels such as `regions:emea`. */
  labels: t.large(t.array(t.string())),
  /** False once the document is superseded. */
  searched: t.boolean(),
  version: t.number(),
  created_at: t.date(),
  changed_at: t.date(),
});
chunks.index({ tenant_id: 1, document_id: 1, chunk_index: 1 });
// For followers, of one tenant and of all.
chunks.index({ tenant_id: 1, changed_at: 1, _id: 1 });
chunks.index({ changed_at: 1, _id: 1 });

export const SourceModel: Model<SourceDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "document_sources",
  ids: "uuid",
  schema: sources,
};
export const DocumentModel: Model<DocumentDoc> = {
  erasure: { subject: "documents.erase_subject" },
  move: { stage: 1 },
  anew: (row) => ({
    ...(row.live_key && { live_key: liveKey(row) }),
    ...(row.version_key && { version_key: versionKey(row) }),
  }),
  name: "documents",
  ids: "uuid",
  schema: documents,
  blobs: ["hash"],
};
export const ChunkModel: Model<ChunkDoc> = {
  erasure: { with: "documents" },
  move: { stage: 0 },
  anew: (_, changed_at) => ({ changed_at }),
  name: "document_chunks",
  ids: "uuid",
  schema: chunks,
};

/** Unique while the document is live: its source and bytes. */
export const liveKey = ({
  tenant_id,
  source_id,
  hash,
}: Pick<DocumentDoc, "tenant_id" | "source_id" | "hash">) => `${tenant_id} ${source_id} ${hash}`;

export const versionKey = (doc: Pick<DocumentDoc, "tenant_id" | "source_id" | "version_num" | "filename">) =>
  `${doc.tenant_id} ${doc.source_id} ${doc.version_num} ${doc.filename}`;

/** Creates the rows of a document's chunks, always with the same ids. */
export function toChunks(doc: DocumentDoc, pieces: readonly Piece[], now: Date): ChunkDoc[] {
  const { _id, tenant_id, scope, agent_id, team_id, source_id, filename } = doc;
  const shared = { tenant_id, scope, agent_id, team_id, document_id: _id, source_id, filename };
  const state = {
    labels: labelsOf(doc.audience),
    searched: true,
    version: 1,
    created_at: now,
    changed_at: now,
  };
  return pieces.map((piece) => ({
    _id: newUuid(`${_id}/${piece.chunk_index}`),
    ...shared,
    ...piece,
    ...state,
  }));
}

export function toEntry(chunk: ChunkDoc): SearchEntry {
  const { _id, version, scope, agent_id, team_id } = chunk;
  return {
    kind: "chunk",
    id: _id,
    version,
    removed: !chunk.searched,
    title: chunk.filename,
    text: chunk.text,
    scope,
    agent_id,
    team_id,
    type: chunk.source_id,
    project_id: null,
    tags: [],
    confidence: 1,
    importance: 0.5,
    created_at: chunk.created_at.getTime(),
    date: null,
    expires_at: null,
    superseded: false,
    cites: 0,
    // A chunk is self-contained and overlaps with the next: context is for the turns of a conversation.
    thread: null,
    audience: chunk.labels,
  };
}

export function present(doc: DocumentDoc) {
  return presentAs(Document, doc, {
    ...{ document_id: doc._id, ...ownerIds(doc.agent_id) },
    subject: doc.subject ?? null,
    ingestion_source_id: doc.source_id,
    ingestion_source_name: doc.source_name,
  });
}

export const presentDetail = (doc: DocumentDoc) => ({ ...present(doc), losses: doc.losses ?? [] });

export const presentChunk = (chunk: ChunkDoc) => presentAs(Chunk, chunk, { chunk_id: chunk._id });
