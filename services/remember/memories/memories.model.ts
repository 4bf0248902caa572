import type { InferSchemaType } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import {
  array,
  date,
  type Model,
  mixed,
  nullable,
  number,
  optional,
  string,
  subdocuments,
  tenantSchema,
} from "../../../storage/model.ts";
import type { MemoryStatus, MemoryType } from "./memories.contract.ts";

/** What happened to a memory: published as `service.memory.<what>` (api: Processes). */
export type MemoryChange =
  | "created"
  | "updated"
  | "promoted"
  | "forgotten"
  | "restored"
  | "superseded"
  | "merged";

/** A fact that is still to be published. It is in the row that it is about, and was written with it. */
export type Announcement = NonNullable<MemoryDoc["announce"]>[number];

/** Where in a document a memory comes from, as it was when the memory was made (spec: Citation). */
export interface StoredCitation {
  document_id: string;
  document_name: string;
  page: number | null;
  snippet: string;
  source_id: string;
  confidence: number | null;
  version: number | null;
}

/** A memory (spec: Memory). */
export interface MemoryDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** The owner; null when a person wrote it. */
  agent_id: nullable(string()),
  /** The person who wrote it; null when an agent did. */
  user_id: nullable(string()),
  scope: string<MemoryScope>(),
  team_id: nullable(string()),
  type: string<MemoryType>(),
  /** `pending`: its writing is not finished (create.ts), nobody sees it. */
  status: string<MemoryStatus | "pending">(),
  title: string(),
  content: string(),
  confidence: number(),
  importance: number(),
  /** JSON: what callers name their keys must not mean anything to a store. */
  metadata: string(),
  source_type: nullable(string()),
  source_id: nullable(string()),
  source_url: nullable(string()),
  source_event_id: nullable(string()),
  freshness_date: nullable(date()),
  expires_at: nullable(date()),
  project_id: nullable(string()),
  /** Canonical. */
  tags: array(string()),
  supersedes_id: nullable(string()),
  invalid_at: nullable(date()),
  superseded_by: nullable(string()),
  /** The seed of the request that replaced it, where that had an Idempotency-Key: repeated, it is answered the same. */
  superseded_seed: optional(string()),
  /** Of a forgotten one: what it goes back to when it is restored. */
  forgotten_from: optional(string<MemoryStatus>()),
  /** Of a merged one: how the merge came up. */
  merge_origin: optional(string()),
  /** The merge proposals that gave it content or citations of another. */
  merges: optional(array(string())),
  created_at: date(),
  updated_at: date(),
  accessed_at: date(),
  /** Raised by every change; guards writes, and orders what search is told. */
  version: number(),
  /** When the row last changed for search and other followers; never older than `updated_at`. */
  changed_at: date(),
  /** Whom it is about, for erasure: what `metadata.subject` says, and those of its source. */
  subjects: array(string()),
  /** Whom what it came from is about: its event, its document, what was merged into it. Older rows have none. */
  source_subjects: optional(array(string())),
  citations: array(mixed<StoredCitation>()),
  /** Null: never. Agents other than the owner count too. */
  last_cited_at: nullable(date()),
  /** Citations by others within 30 days: what ranks. */
  rank_cites: number(),
  /** Since when it is `pending`. */
  pending_at: optional(date()),
  /** Outbox of events, oldest first; absent when there are none. */
  announce: optional(subdocuments({ id: string(), what: string<MemoryChange>(), at: date() })),
  announce_at: optional(date()),
  /** Outbox of findings: since when it is to get its sequence number. */
  finding_due_at: optional(date()),
  finding_origin: optional(string<"created" | "promoted">()),
  finding_from_scope: optional(nullable(string<MemoryScope>())),
  /** When the row is deleted for good: some time after it was forgotten, or has expired. */
  purge_at: optional(date()),
});

// A list is merged from what the institution, each team and each owner has (list.ts). What follows the order is there
// so that filters, other orders and counts need not look into the rows.
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
schema.index({ tenant_id: 1, subjects: 1 });
schema.index({ tenant_id: 1, source_type: 1, source_id: 1, created_at: 1 });
// What was merged into it, and what it replaced.
schema.index({ tenant_id: 1, superseded_by: 1 });
// Followers, of one tenant and of all.
schema.index({ tenant_id: 1, changed_at: 1, _id: 1 });
schema.index({ changed_at: 1, _id: 1 });
// Work to do.
schema.index({ pending_at: 1 }, { sparse: true });
schema.index({ announce_at: 1 }, { sparse: true });
schema.index({ finding_due_at: 1 }, { sparse: true });
schema.index({ purge_at: 1 }, { sparse: true });

export const MemoryModel: Model<MemoryDoc> = { name: "memories", schema };
