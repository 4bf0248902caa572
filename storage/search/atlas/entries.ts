import type { Binary } from "mongodb";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantCollection, TenantDocument } from "../../collection.ts";
import { type DocumentOf, t, tenantSchema } from "../../model.ts";
import type { OwnedWhere, Update, Write } from "../../query.ts";
import { takenRows } from "../../write-errors.ts";
import { readEntry, type SearchEntry, type SearchKind, TIMES, wholeEntry } from "../entry.ts";
import { metadataLabels } from "./metadata-labels.ts";

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
export interface EntryDoc extends TenantDocument, Record<(typeof TIMES)[number], number | null> {
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
  /** See `metadataLabels`. */
  metadata: string[];
  superseded: boolean;
  created_at: number;
  updated_at: number;
  expires_at: number;
  /** Its `Validity`; `NEVER` for no end. */
  valid_from: number;
  valid_until: number;
  succeeded_at: number;
  replaced_at: number;
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
export interface SearchStateDoc extends DocumentOf<typeof searchStates> {}

export const searchStates = tenantSchema({ value: t.string() });

export function entryId(kind: SearchKind, id: string): string {
  return `${kind} ${id}`;
}

/** The fields that a put sets; vector and `embedded` are set separately. */
type EntryFields = Omit<EntryDoc, "_id" | "tenant_id" | "vector" | "embedded">;

export function toFields(source: SearchEntry): EntryFields {
  const entry = wholeEntry(source);
  const { kind, id, version, scope, tags, audience, superseded, created_at, updated_at, validity } = entry;
  const { confidence, importance, cites } = entry;
  const { title_terms, text_terms, ...reading } = readEntry(entry);
  return {
    ...{ kind, id, version, scope, tags, audience, superseded },
    ...{ confidence, importance, cites },
    ...(Object.fromEntries(TIMES.map((name) => [name, entry[name]])) as Record<
      (typeof TIMES)[number],
      number | null
    >),
    ...{ created_at, updated_at },
    metadata: metadataLabels(entry.metadata),
    readers: listReaders(entry),
    agent_id: entry.agent_id ?? NONE,
    team_id: entry.team_id ?? NONE,
    type: entry.type ?? NONE,
    project_id: entry.project_id ?? NONE,
    expires_at: entry.expires_at ?? NEVER,
    valid_from: validity.from,
    valid_until: validity.until ?? NEVER,
    // A given end takes precedence.
    succeeded_at: validity.until === null ? (validity.succeeded ?? NEVER) : NEVER,
    replaced_at: validity.replaced ?? NEVER,
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

/** Puts entries of a tenant; an older version never replaces a newer one. */
export async function putEntries(
  rows: TenantCollection<EntryDoc>,
  tenant_id: string,
  entries: readonly SearchEntry[],
): Promise<void> {
  const operations = entries.map((entry) => buildOperations(tenant_id, entry));
  // First remove vectors of changed texts, or a vector could remain with a text that it does not belong to.
  const stale = operations.flatMap(({ forget }) => (forget ? [forget] : []));
  if (stale.length > 0) await rows.bulk(stale);
  // The duplicate key belongs to a newer version of the entry.
  await rows.upsert(operations.map(({ write }) => write)).catch(takenRows);
}

interface Operations {
  forget: Write<EntryDoc> | null;
  write: { filter: OwnedWhere<EntryDoc>; update: Update<EntryDoc> };
}

function buildOperations(tenant_id: string, entry: SearchEntry): Operations {
  const { kind, id, version, removed } = entry;
  const older = { _id: entryId(kind, id), tenant_id, version: { $lt: version } };
  if (removed) return { forget: null, write: { filter: older, update: buildRemoval({ kind, id, version }) } };
  const fields = toFields(entry);
  const update = { $unset: { vector: "" }, $set: { embedded: NONE } };
  return {
    forget: { updateOne: { filter: { ...older, hash: { $ne: fields.hash } }, update } },
    write: { filter: older, update: { $set: fields, $setOnInsert: { embedded: NONE } } },
  };
}

/** Keeps only the version, so that no older one restores the entry. */
function buildRemoval(kept: Pick<EntryDoc, "kind" | "id" | "version">): Update<EntryDoc> {
  const lists = ["tags", "audience", "metadata"];
  const gone = [...lists, "text", "title_terms", "text_terms", "vector", "hash", "thread"];
  return {
    $set: { ...kept, readers: [], embedded: REMOVED },
    $unset: Object.fromEntries(gone.map((field) => [field, ""])),
  };
}
