import type { Static, TObject } from "typebox";
import { metadataText } from "../../../lib/contract/metadata.ts";
import { canonicalTags } from "../../../lib/contract/tags.ts";
import type { newMemoryFields } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { timesOf } from "./validity.ts";

/** The body of `POST /memories`. */
export type NewMemory = Static<TObject<typeof newMemoryFields>>;

/** Importance and confidence, if nobody gives them. */
export const UNJUDGED = 0.5;

/** Fields of a new row that the service sets. */
export interface Beginning
  extends Pick<
    MemoryDoc,
    "_id" | "tenant_id" | "agent_id" | "user_id" | "team_id" | "subjects" | "source_subjects" | "citations"
  > {
  at: Date;
}

/** Creates a row. @param windowMs how long an expired memory can be restored */
export function newMemory(input: NewMemory, { at, ...beginning }: Beginning, windowMs: number): MemoryDoc {
  const expires_at = parseDate(input.expires_at);
  const purge_at = purgeAt(expires_at, at, windowMs);
  return {
    ...beginning,
    ...contentOf(input),
    ...timesOf(input, { freshness_date: parseDate(input.freshness_date), created_at: at }),
    ...(input.reason && { reason: input.reason }),
    scope: input.scope,
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
    ...(input.supersedes_id
      ? { status: "pending", pending_at: at }
      : { status: "active", announce: [{ id: beginning._id, what: "created", at }], announce_at: at }),
    ...(input.scope === "institutional" && {
      finding_due_at: at,
      finding_origin: "created",
      finding_from_scope: null,
    }),
  };
}

function contentOf(input: NewMemory) {
  return {
    type: input.type,
    title: input.title,
    content: input.content,
    confidence: input.confidence ?? UNJUDGED,
    importance: input.importance ?? UNJUDGED,
    metadata: metadataText(input.metadata),
    source_type: input.source_type ?? null,
    source_id: input.source_id ?? null,
    source_url: input.source_url ?? null,
    source_event_id: input.source_event_id ?? null,
    freshness_date: parseDate(input.freshness_date),
    project_id: input.project_id || null,
    tags: canonicalTags(input.tags ?? []),
    supersedes_id: input.supersedes_id ?? null,
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
export function parseDate(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}
