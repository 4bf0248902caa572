import type { Binary } from "mongodb";
import type { InferSchemaType } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../collection.ts";
import { string, tenantSchema } from "../../model.ts";
import type { SearchEntry, SearchKind } from "../entry.ts";
import { readEntry } from "../reading.ts";

/** Replaces null, so that filtered values always have one type. */
export const NONE = "";
/** Expiry of an entry that never expires. */
export const NEVER = Number.MAX_SAFE_INTEGER;
/** `embedded` of an entry removed from search, which never lacks a vector. */
export const REMOVED = "removed";
/** The reader label of entries that everyone in the tenant may find. */
const EVERYBODY = "*";

/**
 * An entry in MongoDB, shared by all nodes. Words are stored as terms of `lib/text/terms.ts`, so that Atlas and the
 * local index find by the same rules. Times are milliseconds since 1970.
 */
export interface EntryDoc extends TenantDocument {
  kind: SearchKind;
  id: string;
  version: number;
  /** Labels of those who may find it; see `readerLabels`. Empty if removed. */
  readers: string[];
  scope: MemoryScope;
  agent_id: string;
  team_id: string;
  type: string;
  project_id: string;
  tags: string[];
  audience: string[];
  superseded: boolean;
  created_at: number;
  expires_at: number;
  date: number | null;
  confidence: number;
  importance: number;
  cites: number;
  /** Its thread among entries of the same readers; null without one. */
  thread: string | null;
  /** Its position in the thread: sorts as text. */
  position: string;
  title_terms: string;
  text_terms: string;
  signs: number;
  /** Terms in title and text. */
  length: number;
  hash: string;
  text: string;
  /** int8, of the text with this hash. */
  vector?: Binary;
  /** The model that computed the vector. */
  embedded: string;
}

/** State of the shared index that nodes need: a cursor, or the dimensions of a model. */
export interface SearchStateDoc extends InferSchemaType<typeof searchStates> {}

export const searchStates = tenantSchema({ value: string() });

export function entryId(kind: SearchKind, id: string): string {
  return `${kind} ${id}`;
}

/** The fields that a put sets; vector and `embedded` are set separately. */
type EntryFields = Omit<EntryDoc, "_id" | "tenant_id" | "vector" | "embedded">;

export function toFields(entry: SearchEntry): EntryFields {
  const { kind, id, version, scope, tags, audience = [], superseded, created_at, date } = entry;
  const { confidence, importance, cites } = entry;
  const { title_terms, text_terms, ...reading } = readEntry(entry);
  return {
    ...{ kind, id, version, scope, tags, audience, superseded, created_at, date },
    ...{ confidence, importance, cites },
    readers: listReaders(entry),
    agent_id: entry.agent_id ?? NONE,
    team_id: entry.team_id ?? NONE,
    type: entry.type ?? NONE,
    project_id: entry.project_id ?? NONE,
    expires_at: entry.expires_at ?? NEVER,
    thread: threadKey(entry),
    position: `${String(created_at).padStart(15, "0")} ${id}`,
    title_terms: title_terms.join(" "),
    text_terms: text_terms.join(" "),
    ...reading,
  };
}

/** Returns the readers of an entry: its owner, its team, or everyone (spec: Memories). */
function listReaders({ scope, agent_id, team_id }: SearchEntry): string[] {
  const labels = agent_id === null ? [] : [agentLabel(agent_id)];
  if (scope === "institutional") labels.push(EVERYBODY);
  if (scope === "team" && team_id !== null) labels.push(teamLabel(team_id));
  return labels;
}

/** Returns a caller's labels: an entry with one of them is readable. */
export function readerLabels(access: { agent_ids: string[]; team_ids: string[] }): string[] {
  return [EVERYBODY, ...access.agent_ids.map(agentLabel), ...access.team_ids.map(teamLabel)];
}

const agentLabel = (id: string) => `agent:${id}`;
const teamLabel = (id: string) => `team:${id}`;

/** Neighbours have the same readers: context never reveals an unreadable entry. */
function threadKey({ kind, thread, agent_id, scope, team_id }: SearchEntry): string | null {
  return thread === null ? null : JSON.stringify([kind, thread, agent_id, scope, team_id]);
}
