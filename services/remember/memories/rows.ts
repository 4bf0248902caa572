import type { Static, TObject } from "typebox";
import type { Caller } from "../../../lib/access/caller.ts";
import { type Access, isOrgAdmin, mayRead } from "../../../lib/access/visibility.ts";
import { upToSize } from "../../../lib/broker/message-size.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { newMemoryFields } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** The body of `POST /memories`. */
export type NewMemory = Static<TObject<typeof newMemoryFields>>;

const MAX_METADATA = 65_536;
/** The default of confidence and importance (api: Memories). */
const MIDDLE = 0.5;

/** Serialises metadata for storage. @throws Fault validation_error if it is too large. */
export function metadataText(metadata: object | null | undefined): string {
  const text = JSON.stringify(metadata ?? {});
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_METADATA) return text;
  const allowed = `at most ${MAX_METADATA}`;
  throw invalidValue("metadata", `metadata has ${bytes} bytes as JSON; ${allowed} are kept.`, {
    expected: allowed,
  });
}

/** Returns the subjects that metadata names: a text or a number, or several (api: Memories, erase). */
export function subjectsIn(metadata: object | null | undefined): string[] {
  const given: unknown[] = metadata && "subject" in metadata ? [metadata.subject].flat() : [];
  return given.filter((each) => typeof each === "string" || typeof each === "number").map(String);
}

/** Fields of a new row that the service sets. */
export interface Beginning
  extends Pick<
    MemoryDoc,
    "_id" | "tenant_id" | "agent_id" | "user_id" | "team_id" | "subjects" | "source_subjects" | "citations"
  > {
  at: Date;
}

/** Creates a row. @param windowMs how long an expired memory can be restored */
export function newMemory(given: NewMemory, { at, ...beginning }: Beginning, windowMs: number): MemoryDoc {
  const expires_at = dateOf(given.expires_at);
  const purge_at = purgeAt(expires_at, at, windowMs);
  return {
    ...beginning,
    ...contentOf(given),
    scope: given.scope,
    expires_at,
    ...(purge_at && { purge_at }),
    invalid_at: null,
    superseded_by: null,
    created_at: at,
    updated_at: at,
    accessed_at: at,
    version: 1,
    changed_at: at,
    last_cited_at: null,
    rank_cites: 0,
    // A replacement comes into force once its predecessor is superseded (create.ts).
    ...(given.supersedes_id
      ? { status: "pending", pending_at: at }
      : { status: "active", announce: [{ id: beginning._id, what: "created", at }], announce_at: at }),
    ...(given.scope === "institutional" && {
      finding_due_at: at,
      finding_origin: "created",
      finding_from_scope: null,
    }),
  };
}

function contentOf(given: NewMemory) {
  return {
    type: given.type,
    title: given.title,
    content: given.content,
    confidence: given.confidence ?? MIDDLE,
    importance: given.importance ?? MIDDLE,
    metadata: metadataText(given.metadata),
    source_type: given.source_type ?? null,
    source_id: given.source_id ?? null,
    source_url: given.source_url ?? null,
    source_event_id: given.source_event_id ?? null,
    freshness_date: dateOf(given.freshness_date),
    project_id: given.project_id || null,
    tags: canonicalTags(given.tags ?? []),
    supersedes_id: given.supersedes_id ?? null,
  };
}

/**
 * Returns when to purge a memory that nobody forgets: some time after it expires. Counts from `now` at the earliest,
 * because an expiry far in the past may be a mistake.
 */
export function purgeAt(expires_at: Date | null, now: Date, windowMs: number): Date | null {
  return expires_at && new Date(Math.max(expires_at.getTime(), now.getTime()) + windowMs);
}

/** Parses a timestamp; null if absent. */
export function dateOf(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}

/** Formats a memory for callers. */
export function present(doc: MemoryDoc) {
  return {
    id: doc._id,
    tenant_id: doc.tenant_id,
    agent_id: doc.agent_id,
    user_id: doc.user_id,
    scope: doc.scope,
    team_id: doc.team_id,
    type: doc.type,
    status: doc.status,
    title: doc.title,
    content: doc.content,
    confidence: doc.confidence,
    importance: doc.importance,
    metadata: JSON.parse(doc.metadata) as Record<string, unknown>,
    source_type: doc.source_type,
    source_id: doc.source_id,
    source_url: doc.source_url,
    source_event_id: doc.source_event_id,
    freshness_date: doc.freshness_date?.toISOString() ?? null,
    expires_at: doc.expires_at?.toISOString() ?? null,
    project_id: doc.project_id,
    tags: doc.tags,
    supersedes_id: doc.supersedes_id,
    invalid_at: doc.invalid_at?.toISOString() ?? null,
    superseded_by: doc.superseded_by,
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
    accessed_at: doc.accessed_at.toISOString(),
  };
}

/** Converts a memory to a search entry. */
export function toEntry(doc: MemoryDoc): SearchEntry {
  const { source_type, source_id } = doc;
  return {
    kind: "memory",
    id: doc._id,
    version: doc.version,
    removed: doc.status !== "active" && doc.status !== "superseded",
    title: doc.title,
    text: doc.content,
    scope: doc.scope,
    agent_id: doc.agent_id,
    team_id: doc.team_id,
    type: doc.type,
    project_id: doc.project_id,
    tags: doc.tags,
    confidence: doc.confidence,
    importance: doc.importance,
    created_at: doc.created_at.getTime(),
    date: doc.freshness_date?.getTime() ?? null,
    expires_at: doc.expires_at?.getTime() ?? null,
    superseded: doc.status === "superseded",
    cites: doc.rank_cites,
    thread: source_type && source_id ? `${source_type}:${source_id}` : null,
  };
}

/** Returns the first rows, limited to one message between nodes. */
export function inOneMessage(docs: MemoryDoc[]): MemoryDoc[] {
  return upToSize(docs, ({ title, content, metadata }) => title.length + content.length + metadata.length);
}

/** Whether a memory has expired by a time in milliseconds. */
export function isExpired({ expires_at }: Pick<MemoryDoc, "expires_at">, now: number): boolean {
  return expires_at !== null && expires_at.getTime() <= now;
}

/**
 * Whether the caller may change it: the agent that owns it, the person who wrote it or owns that agent, or an org admin
 * who may read it (api: Memories).
 */
export function mayManage(caller: Caller, access: Access, doc: MemoryDoc): boolean {
  if (!mayRead(access, doc)) return false;
  if (caller.kind === "agent") return doc.agent_id === caller.agent_id;
  if (isOrgAdmin(caller) || doc.user_id === caller.user_id) return true;
  return doc.agent_id !== null && access.agent_ids.includes(doc.agent_id);
}

/**
 * Whether a caller may read it by id: anyone with access if in force or superseded, otherwise only those who may manage
 * it.
 */
export function mayReadById(caller: Caller, access: Access, doc: MemoryDoc, now: number): boolean {
  if (doc.status === "pending") return false;
  const withdrawn = doc.status === "forgotten" || isExpired(doc, now);
  return withdrawn ? mayManage(caller, access, doc) : mayRead(access, doc);
}
