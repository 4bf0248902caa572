import type { Caller } from "../../../lib/access/caller.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { Piece } from "./chunks.ts";
import { AUDIENCES, type Audience, type Sensitivity } from "./documents.contract.ts";
import type { ChunkDoc, DocumentDoc } from "./documents.model.ts";

/** Returns the scope of a sensitivity (api: Knowledge). */
export function scopeOf(sensitivity: Sensitivity, team_id: string | null): DocumentDoc["scope"] {
  if (sensitivity === "public" || sensitivity === "internal") return "institutional";
  return team_id === null ? "agent" : "team";
}

/** `AudienceInput` of the contract. */
type GivenAudience = { [K in keyof Audience]?: string[] | undefined };

export function audienceOf(given: GivenAudience = {}): Audience {
  return Object.fromEntries(AUDIENCES.map((kind) => [kind, [...new Set(given[kind] ?? [])]])) as Audience;
}

const label = (kind: string, value: string) => `${kind}:${value.normalize("NFC").toLowerCase()}`;
const everyone = (kind: string) => `${kind}:*`;

/** Returns a document's labels for search: an empty list is for everyone. */
function labelsOf(audience: Audience): string[] {
  return AUDIENCES.flatMap((kind) =>
    audience[kind].length ? audience[kind].map((value) => label(kind, value)) : everyone(kind),
  );
}

/** Returns the labels to search for: a document must match at least one of each requested list. */
export function wantedLabels(given: GivenAudience = {}): string[][] {
  const audience = audienceOf(given);
  return AUDIENCES.filter((kind) => audience[kind].length).map((kind) => [
    everyone(kind),
    ...audience[kind].map((value) => label(kind, value)),
  ]);
}

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
  const byAgent = doc.agent_id.startsWith("ag_");
  return {
    document_id: doc._id,
    filename: doc.filename,
    mime_type: doc.mime_type,
    status: doc.status,
    error: doc.error,
    byte_size: doc.byte_size,
    chunk_count: doc.chunk_count,
    sensitivity: doc.sensitivity,
    audience: doc.audience,
    subject: doc.subject ?? null,
    version_num: doc.version_num,
    superseded_by: doc.superseded_by,
    agent_id: byAgent ? doc.agent_id : null,
    user_id: byAgent ? null : doc.agent_id,
    team_id: doc.team_id,
    created_at: doc.created_at.toISOString(),
    ingested_at: doc.ingested_at?.toISOString() ?? null,
    ingestion_source_id: doc.source_id,
    ingestion_source_name: doc.source_name,
  };
}

export function presentChunk(chunk: ChunkDoc) {
  return {
    chunk_id: chunk._id,
    document_id: chunk.document_id,
    page_number: chunk.page_number,
    char_offset: chunk.char_offset,
    char_length: chunk.char_length,
    chunk_index: chunk.chunk_index,
    text: chunk.text,
    created_at: chunk.created_at.toISOString(),
  };
}

/** Returns the team of a caller's documents. */
export function teamOf(caller: Caller): string | null {
  return caller.kind === "agent" ? caller.team_id : null;
}
