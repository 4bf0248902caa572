import type { Static } from "typebox";
import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { subjectOf } from "../../../lib/contract/subject.ts";
import { packMetadata } from "../../../lib/filter/metadata.ts";
import { ancestorLabels, fromStored } from "../../../lib/text/namespace.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import { filterLabels } from "./filters.ts";
import { MEMORY_STATUSES, MEMORY_TYPES, Memory, type MemoryStatus } from "./memories.contract.ts";
import type { Citation } from "./usage.contract.ts";
import { presentValidity, validityOf } from "./validity.ts";

/** Changes of a memory, published as `service.memory.<what>` (api: Processes). */
const CHANGES = ["created", "updated", "promoted", "forgotten", "restored", "superseded", "merged"] as const;
export type MemoryChange = (typeof CHANGES)[number];

/** The position in a document that a memory comes from, as of its creation (spec: Citation). */
export type StoredCitation = Omit<Static<typeof Citation>, "freshness">;

export interface MemoryDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** The owner; null when a person wrote it. */
  agent_id: t.nullable(t.string()),
  /** The person who wrote it; null when an agent did. */
  user_id: t.nullable(t.string()),
  scope: t.oneOf(MEMORY_SCOPES),
  team_id: t.nullable(t.string()),
  type: t.oneOf(MEMORY_TYPES),
  /** `pending`: not fully written (create.ts), visible to nobody. */
  status: t.oneOf([...MEMORY_STATUSES, "pending"]),
  title: t.text(),
  content: t.large(t.text()),
  confidence: t.number(),
  importance: t.number(),
  /** JSON: callers' keys must have no meaning in the store. */
  metadata: t.large(t.texts(t.json())),
  source_type: t.nullable(t.string()),
  source_id: t.nullable(t.text()),
  source_url: t.nullable(t.text()),
  source_event_id: t.nullable(t.string()),
  freshness_date: t.nullable(t.date()),
  expires_at: t.nullable(t.date()),
  /** When it begins to hold; absent in older rows (validity.ts). */
  valid_from: t.optional(t.date()),
  /** Whether somebody said so: otherwise it follows `freshness_date`. */
  valid_from_given: t.optional(t.boolean()),
  /** When it stops, as somebody said. */
  valid_until: t.optional(t.nullable(t.date())),
  /** When its successor begins to hold; absent if it has none. */
  succeeded_at: t.optional(t.nullable(t.date())),
  /** Why it was superseded, or why it supersedes another, if somebody said. */
  reason: t.optional(t.nullable(t.text())),
  superseded_reason: t.optional(t.nullable(t.text())),
  /** `Correction`s of its times as JSON, oldest first. */
  corrections: t.optional(t.large(t.texts(t.json()))),
  /** When its times were last corrected. */
  corrected_at: t.optional(t.date()),
  project_id: t.nullable(t.string()),
  /** Normalised. */
  tags: t.array(t.text()),
  /** Address among its owner's memories (keys.ts), stored by namespace.ts. */
  namespace: t.optional(t.text()),
  key: t.optional(t.text()),
  supersedes_id: t.nullable(t.string()),
  invalid_at: t.nullable(t.date()),
  superseded_by: t.nullable(t.string()),
  /** Seed of the request that replaced it, if that had an Idempotency-Key: a repetition gets the same answer. */
  superseded_seed: t.optional(t.string()),
  /** Status before it was forgotten, restored by restore. */
  forgotten_from: t.optional(t.oneOf(MEMORY_STATUSES)),
  /** Origin of the merge that superseded it. */
  merge_origin: t.optional(t.string()),
  /** Merge proposals that added content or citations of another memory. */
  merges: t.optional(t.array(t.string())),
  created_at: t.date(),
  updated_at: t.date(),
  accessed_at: t.date(),
  /** Raised by every change; guards writes and orders updates of search. */
  version: t.number(),
  /** Last change for search and other followers; never older than `updated_at`. */
  changed_at: t.date(),
  /** Subjects, for erasure: those of `metadata.subject` and those of its sources. */
  subjects: t.array(t.text()),
  /** Subjects of its sources: event, document, merged memories. Absent in older rows. */
  source_subjects: t.optional(t.array(t.text())),
  citations: t.large(t.texts(t.array(t.mixed<StoredCitation>()))),
  /** Null: never. Includes citations by others than the owner. */
  last_cited_at: t.nullable(t.date()),
  /** Citations by others within 30 days; affects ranking. */
  rank_cites: t.number(),
  pending_at: t.optional(t.date()),
  /** Outbox of events, oldest first; absent when empty. */
  announce: t.optional(t.subdocuments({ id: t.string(), what: t.oneOf(CHANGES), at: t.date() })),
  announce_at: t.optional(t.date()),
  /** Outbox of findings: waiting for its sequence number since then. */
  finding_due_at: t.optional(t.date()),
  finding_origin: t.optional(t.oneOf(["created", "promoted"])),
  finding_from_scope: t.optional(t.nullable(t.oneOf(MEMORY_SCOPES))),
  /** When the row is deleted permanently: some time after it was forgotten or has expired. */
  purge_at: t.optional(t.date()),
});

// A list merges the rows of the institution, each team and each owner (list.ts). The fields after the order serve
// filters, other orders and counts without reading the rows.
const order = { created_at: 1, _id: 1 } as const;
const looked = {
  expires_at: 1,
  type: 1,
  project_id: 1,
  source_type: 1,
  last_cited_at: 1,
  importance: 1,
  confidence: 1,
  title: 1,
} as const;
schema.index({ tenant_id: 1, scope: 1, team_id: 1, status: 1, ...order, ...looked }, { name: "by_audience" });
schema.index(
  { tenant_id: 1, agent_id: 1, status: 1, ...order, scope: 1, team_id: 1, ...looked },
  { name: "by_owner" },
);
schema.index({ tenant_id: 1, tags: 1 });
schema.index({ tenant_id: 1, agent_id: 1, namespace: 1 });
schema.index({ tenant_id: 1, subjects: 1 });
schema.index({ tenant_id: 1, source_type: 1, source_id: 1, created_at: 1 });
// Finds predecessors: merged or replaced memories.
schema.index({ tenant_id: 1, superseded_by: 1 });
// Finds what was known before a correction.
schema.index({ tenant_id: 1, corrected_at: 1 }, { sparse: true });
// For followers, of one tenant and of all.
schema.index({ tenant_id: 1, changed_at: 1, _id: 1 });
schema.index({ changed_at: 1, _id: 1 });
// For background work.
schema.index({ pending_at: 1 }, { sparse: true });
schema.index({ announce_at: 1 }, { sparse: true });
schema.index({ finding_due_at: 1 }, { sparse: true });
schema.index({ purge_at: 1 }, { sparse: true });

export const MemoryModel: Model<MemoryDoc> = {
  erasure: { agent: "memories.erase", subject: "memories.erase", memories: "memories.erase" },
  move: { stage: 1 },
  anew: (row, changed_at) => ({ changed_at, valid_from: validityOf(row).from }),
  name: "memories",
  ids: "uuid",
  schema,
};

/** Formats a memory for callers. */
export function present(doc: MemoryDoc) {
  const metadata = JSON.parse(doc.metadata) as Record<string, unknown>;
  const namespace = doc.namespace === undefined ? null : fromStored(doc.namespace);
  // A pending memory is visible to nobody.
  const status = doc.status as MemoryStatus;
  const valid = presentValidity(doc);
  return presentAs(Memory, doc, {
    ...{ metadata, subject: subjectOf(metadata), namespace, key: doc.key ?? null, status },
    ...{ valid_from: valid.from, valid_until: valid.until },
  });
}

export function toEntry(doc: MemoryDoc): SearchEntry {
  const { source_type, source_id, namespace } = doc;
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
    updated_at: doc.updated_at.getTime(),
    date: doc.freshness_date?.getTime() ?? null,
    expires_at: doc.expires_at?.getTime() ?? null,
    superseded: doc.status === "superseded",
    validity: {
      from: validityOf(doc).from.getTime(),
      until: doc.valid_until?.getTime() ?? null,
      succeeded: doc.succeeded_at?.getTime() ?? null,
      replaced: doc.invalid_at?.getTime() ?? null,
    },
    cites: doc.rank_cites,
    thread: source_type && source_id ? `${source_type}:${source_id}` : null,
    audience: [...filterLabels(doc), ...(namespace ? ancestorLabels(namespace) : [])],
    metadata: packMetadata(JSON.parse(doc.metadata)),
  };
}

/**
 * The memory that an agent addresses by namespace and key, which `_id` combines with the agent: so there is one, also
 * when two nodes create it at once.
 */
interface MemoryKeyDoc extends DocumentOf<typeof keySchema> {}

const keySchema = tenantSchema({
  /** Replaced when the memory is put again after it was forgotten, expired or superseded. */
  memory_id: t.string(),
});
keySchema.index({ tenant_id: 1, memory_id: 1 });

export const MemoryKeyModel: Model<MemoryKeyDoc> = {
  erasure: { with: "memories" },
  move: { stage: 0 },
  name: "memory_keys",
  schema: keySchema,
};

/** A citation of a memory by a user on a day: `_id` combines the three, so that it counts once (api: Memories). */
export interface CiteDoc extends DocumentOf<typeof citeSchema> {}

const citeSchema = tenantSchema({
  memory_id: t.string(),
  /** The agent or person. */
  cited_by: t.string(),
  /** The memory's owner. */
  owner_id: t.nullable(t.string()),
  /** By the owner: does not affect ranking. */
  own: t.boolean(),
  originating_query_id: t.nullable(t.string()),
  at: t.date(),
  /** Published as `memory.cited`. */
  announced: t.boolean(),
  /** When the memory's counts must be updated: at once, and when the citation no longer counts. */
  due_at: t.date(),
});
citeSchema.index({ tenant_id: 1, memory_id: 1, at: 1 });
citeSchema.index({ tenant_id: 1, cited_by: 1, at: 1 });
citeSchema.index({ tenant_id: 1, owner_id: 1, at: 1 });
citeSchema.index({ due_at: 1 });

export const CiteModel: Model<CiteDoc> = {
  erasure: { with: "memories" },
  move: { stage: 2 },
  name: "memory_cites",
  schema: citeSchema,
};

/** An erasure in progress: an interrupted one is resumed from this row, which is deleted when nothing is left. */
export interface MemoryErasureDoc extends DocumentOf<typeof erasureSchema> {}

const erasureSchema = tenantSchema({
  /** JSON of an `EraseTarget`; null when only the files are left to scrub. */
  target: t.nullable(t.large(t.texts(t.json()))),
  /** JSON: the target's name in the audit log. */
  by: t.texts(t.json()),
  /** Memories whose rows may be deleted already while other data about them remains. */
  batch: t.large(t.array(t.string())),
  begun_at: t.date(),
  /** Until then the node that began it is working on it. */
  lease_ends_at: t.date(),
});
erasureSchema.index({ lease_ends_at: 1 });

export const MemoryErasureModel: Model<MemoryErasureDoc> = {
  erasure: { none: "an erasure in progress, which clears what it names" },
  move: { stage: 4 },
  anew: (_, lease_ends_at) => ({ lease_ends_at }),
  name: "memory_erasures",
  ids: "uuid",
  schema: erasureSchema,
};
