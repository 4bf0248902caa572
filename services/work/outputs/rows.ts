import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { ChunkDoc, Edition, OutputDoc, VersionDoc } from "./outputs.model.ts";

const CONTENT_TYPE = "text/markdown";

/** Returns the owner for callers, with separate fields for people and agents. */
function ownerOf({ agent_id }: OutputDoc) {
  const byAgent = agent_id.startsWith("ag_");
  return { agent_id: byAgent ? agent_id : null, user_id: byAgent ? null : agent_id };
}

function textOf({ hash, byte_size }: Edition) {
  return { content_hash: hash, byte_size, content_type: CONTENT_TYPE };
}

/** Formats an output without its text, as in lists. */
export function present(doc: OutputDoc) {
  const { _id, tenant_id, project_id, scope, team_id, title, slug, source_type, hash } = doc;
  const { tags, derived_from_ids, references_ids, supersedes_ids, superseded_by } = doc;
  return {
    ...{ id: _id, tenant_id, ...ownerOf(doc), project_id, scope, team_id, title, slug, source_type },
    ...{ bucket: "blobs", object_key: `${tenant_id}/${hash}`, ...textOf(doc) },
    ...{ metadata: JSON.parse(doc.metadata_json), tags },
    ...{ derived_from_ids, references_ids, supersedes_ids, superseded_by },
    current_version_num: doc.version_num,
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
    process_run_id: doc.process_run_id,
    body: null,
  };
}

/** Formats an output with a version's text by reference. */
export function presentWhole(doc: OutputDoc, edition: Edition) {
  const { title, hash, byte_size } = edition;
  const shown = { ...present({ ...doc, title, hash, byte_size }), current_version_num: doc.version_num };
  return { ...shown, body: { hash, size: byte_size } };
}

export function presentVersion(output_id: string, edition: Edition) {
  const { version_id, version_num, title, change_note, authored_by_agent_id, authored_by_user_id } = edition;
  return {
    ...{ id: version_id, output_id, version_num, title, ...textOf(edition), change_note },
    ...{ authored_by_agent_id, authored_by_user_id, authored_by_specialist_id: null },
    created_at: edition.saved_at.toISOString(),
    body: null,
  };
}

/** Returns the row of a version that is no longer current. */
export function toVersion({ tenant_id, _id, ...doc }: OutputDoc): VersionDoc {
  const { version_id, version_num, title, hash, byte_size, change_note } = doc;
  const { authored_by_agent_id, authored_by_user_id, saved_at } = doc;
  return {
    ...{ _id: version_id, tenant_id, output_id: _id, version_id, version_num, title, hash, byte_size },
    ...{ change_note, authored_by_agent_id, authored_by_user_id, saved_at },
  };
}

export function toChunk(doc: OutputDoc, text: string, place: number, changed_at: Date): ChunkDoc {
  const { tenant_id, title, scope, agent_id, team_id, project_id, tags, created_at, version } = doc;
  return {
    ...{ _id: `${doc._id}/${place}`, tenant_id, output_id: doc._id, text, title, scope, agent_id, team_id },
    ...{ project_id, tags, superseded: doc.superseded_by !== null, created_at, version, changed_at },
  };
}

export function toEntry(chunk: ChunkDoc): SearchEntry {
  const { _id, version, title, text, scope, agent_id, team_id, project_id, tags, superseded } = chunk;
  return {
    ...{ kind: "output", id: _id, version, title, text, scope, agent_id, team_id, project_id, tags },
    // Lets a search exclude the outputs found so far.
    type: chunk.output_id,
    ...{ confidence: 1, importance: 0.5, created_at: chunk.created_at.getTime(), date: null },
    ...{ expires_at: null, superseded, cites: 0, thread: null },
  };
}
