import { Schema } from "mongoose";
import type { MemoryScope } from "../../../lib/access/visibility.ts";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";
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
export interface Announcement {
  id: string;
  what: MemoryChange;
  at: Date;
}

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
export interface MemoryDoc extends TenantDocument {
  /** The owner; null when a person wrote it. */
  agent_id: string | null;
  /** The person who wrote it; null when an agent did. */
  user_id: string | null;
  scope: MemoryScope;
  team_id: string | null;
  type: MemoryType;
  /** `pending`: its writing is not finished (create.ts), nobody sees it. */
  status: MemoryStatus | "pending";
  title: string;
  content: string;
  confidence: number;
  importance: number;
  /** JSON: what callers name their keys must not mean anything to a store. */
  metadata: string;
  source_type: string | null;
  source_id: string | null;
  source_url: string | null;
  source_event_id: string | null;
  freshness_date: Date | null;
  expires_at: Date | null;
  project_id: string | null;
  /** Canonical. */
  tags: string[];
  supersedes_id: string | null;
  invalid_at: Date | null;
  superseded_by: string | null;
  /** The seed of the request that replaced it, where that had an Idempotency-Key: repeated, it is answered the same. */
  superseded_seed?: string;
  /** Of a forgotten one: what it goes back to when it is restored. */
  forgotten_from?: MemoryStatus;
  /** Of a merged one: how the merge came up. */
  merge_origin?: string;
  /** The merge proposals that gave it content or citations of another. */
  merges?: string[];
  created_at: Date;
  updated_at: Date;
  accessed_at: Date;
  /** Raised by every change; guards writes, and orders what search is told. */
  version: number;
  /** When the row last changed for search and other followers; never older than `updated_at`. */
  changed_at: Date;
  /** Whom it is about, for erasure: what `metadata.subject` says, and those of its source. */
  subjects: string[];
  /** Whom what it came from is about: its event, its document, what was merged into it. Older rows have none. */
  source_subjects?: string[];
  citations: StoredCitation[];
  /** Null: never. Agents other than the owner count too. */
  last_cited_at: Date | null;
  /** Citations by others within 30 days: what ranks. */
  rank_cites: number;
  /** Since when it is `pending`. */
  pending_at?: Date;
  /** Outbox of events, oldest first; absent when there are none. */
  announce?: Announcement[];
  announce_at?: Date;
  /** Outbox of findings: since when it is to get its sequence number. */
  finding_due_at?: Date;
  finding_origin?: "created" | "promoted";
  finding_from_scope?: MemoryScope | null;
  /** When the row is deleted for good: some time after it was forgotten, or has expired. */
  purge_at?: Date;
}

const schema = new Schema<MemoryDoc>(
  {
    _id: String,
    tenant_id: String,
    agent_id: String,
    user_id: String,
    scope: String,
    team_id: String,
    type: String,
    status: String,
    title: String,
    content: String,
    confidence: Number,
    importance: Number,
    metadata: String,
    source_type: String,
    source_id: String,
    source_url: String,
    source_event_id: String,
    freshness_date: Date,
    expires_at: Date,
    project_id: String,
    tags: [String],
    supersedes_id: String,
    invalid_at: Date,
    superseded_by: String,
    superseded_seed: String,
    forgotten_from: String,
    merge_origin: String,
    merges: [String],
    created_at: Date,
    updated_at: Date,
    accessed_at: Date,
    version: Number,
    changed_at: Date,
    subjects: [String],
    source_subjects: [String],
    citations: [Schema.Types.Mixed],
    last_cited_at: Date,
    rank_cites: Number,
    pending_at: Date,
    announce: [{ _id: false, id: String, what: String, at: Date }],
    announce_at: Date,
    finding_due_at: Date,
    finding_origin: String,
    finding_from_scope: String,
    purge_at: Date,
  },
  { versionKey: false },
);

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
