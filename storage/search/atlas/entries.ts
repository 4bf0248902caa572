import type { Binary } from "mongodb";
import type { InferSchemaType } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../collection.ts";
import { string, tenantSchema } from "../../model.ts";
import type { SearchEntry, SearchKind } from "../entry.ts";
import { readEntry } from "../reading.ts";

/** In place of null: what filters compare is always of one type. */
export const NONE = "";
/** When an entry expires that never does. */
export const NEVER = Number.MAX_SAFE_INTEGER;
/** `embedded` of what is out of search: it is never without its vector. */
export const REMOVED = "removed";
/** A reader's label on what all of the tenant may find. */
const EVERYBODY = "*";

/**
 * An entry as all nodes share it in MongoDB. Words are kept as `lib/text/terms.ts` gives them, so that Atlas and the local
 * index find by the same rules. Times are milliseconds since 1970.
 */
export interface EntryDoc extends TenantDocument {
  kind: SearchKind;
  id: string;
  version: number;
  /** Labels of those who may find it; see `readerLabels`. Empty when it is removed. */
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
  /** Its thread among entries of the same readers; null: it has none. */
  thread: string | null;
  /** Its place in the thread: sorts as text. */
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
  /** The model that made the vector. */
  embedded: string;
}

/** What a node has to know of the shared index: a cursor, or the dimensions of a model. */
export interface SearchStateDoc extends InferSchemaType<typeof searchStates> {}

export const searchStates = tenantSchema({ value: string() });

export function entryId(kind: SearchKind, id: string): string {
  return `${kind} ${id}`;
}

/** What a put sets of an entry; vector and `embedded` are set apart from it. */
type EntryFields = Omit<EntryDoc, "_id" | "tenant_id" | "vector" | "embedded">;

export function fieldsOf(entry: SearchEntry): EntryFields {
  const { kind, id, version, scope, tags, audience = [], superseded, created_at, date } = entry;
  const { confidence, importance, cites } = entry;
  const { title_terms, text_terms, ...reading } = readEntry(entry);
  return {
    ...{ kind, id, version, scope, tags, audience, superseded, created_at, date },
    ...{ confidence, importance, cites },
    readers: readersOf(entry),
    agent_id: entry.agent_id ?? NONE,
    team_id: entry.team_id ?? NONE,
    type: entry.type ?? NONE,
    project_id: entry.project_id ?? NONE,
    expires_at: entry.expires_at ?? NEVER,
    thread: threadOf(entry),
    position: `${String(created_at).padStart(15, "0")} ${id}`,
    title_terms: title_terms.join(" "),
    text_terms: text_terms.join(" "),
    ...reading,
  };
}

/** Whom an entry is found by: its owner, its team, or everybody (spec: Memories). */
function readersOf({ scope, agent_id, team_id }: SearchEntry): string[] {
  const labels = agent_id === null ? [] : [agentLabel(agent_id)];
  if (scope === "institutional") labels.push(EVERYBODY);
  if (scope === "team" && team_id !== null) labels.push(teamLabel(team_id));
  return labels;
}

/** The labels that a caller reads by: an entry is readable when it has one of them. */
export function readerLabels(access: { agent_ids: string[]; team_ids: string[] }): string[] {
  return [EVERYBODY, ...access.agent_ids.map(agentLabel), ...access.team_ids.map(teamLabel)];
}

const agentLabel = (id: string) => `agent:${id}`;
const teamLabel = (id: string) => `team:${id}`;

/** Neighbours have the same readers: context never tells of what cannot be read. */
function threadOf({ kind, thread, agent_id, scope, team_id }: SearchEntry): string | null {
  return thread === null ? null : JSON.stringify([kind, thread, agent_id, scope, team_id]);
}
