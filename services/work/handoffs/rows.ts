import { upToSize } from "../../../lib/broker/message-size.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import type { HandoffDoc } from "./handoffs.model.ts";

/** api: Handoffs. */
const TTL_MS = 30 * DAY_MS;
/** More text than this does not make a handoff easier to find. */
const SEARCHED_CHARACTERS = 32_768;

/** Returns a full term from now; pinned handoffs are not reaped. */
export function fullTerm(now: Date, { pinned_at }: Pick<HandoffDoc, "pinned_at">) {
  const expires_at = new Date(now.getTime() + TTL_MS);
  return { expires_at, reap_at: pinned_at ? null : expires_at };
}

/** Matches unexpired handoffs: expired ones are gone, whether removed yet or not. */
export function standing(now: Date) {
  return { $or: [{ reap_at: null }, { reap_at: { $gt: now } }] };
}

/** Formats a handoff for its agent. */
export function present(doc: HandoffDoc) {
  return {
    id: doc._id,
    agent_id: doc.agent_id,
    name: doc.name,
    summary: doc.summary,
    payload: JSON.parse(doc.payload) as Record<string, unknown>,
    citations: doc.citations.map(({ memory_id, title }) => ({ memory_id, title })),
    artifacts: doc.artifacts,
    origin_client: doc.origin_client,
    scope: "agent",
    version_num: doc.version_num,
    pinned_at: doc.pinned_at?.toISOString() ?? null,
    last_resumed_at: doc.last_resumed_at?.toISOString() ?? null,
    expires_at: doc.expires_at.toISOString(),
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
    bundle_id: doc.bundle_id,
  };
}

/** Converts a handoff to a search entry. */
export function toEntry(doc: HandoffDoc): SearchEntry {
  return {
    kind: "handoff",
    id: doc._id,
    version: doc.version,
    title: doc.name,
    text: searchedText(doc),
    scope: "agent",
    agent_id: doc.agent_id,
    team_id: null,
    type: null,
    project_id: null,
    tags: [],
    confidence: 0.5,
    importance: 0.5,
    created_at: doc.created_at.getTime(),
    date: doc.updated_at.getTime(),
    expires_at: doc.reap_at?.getTime() ?? null,
    superseded: false,
    cites: 0,
    thread: null,
  };
}

function searchedText({ summary, payload, artifacts }: HandoffDoc): string {
  const texts = [summary, ...textsIn(JSON.parse(payload)), ...artifacts];
  // Search needs a text in each entry.
  return texts.filter(Boolean).join("\n").slice(0, SEARCHED_CHARACTERS) || "…";
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** Returns the first rows, limited to one message between nodes. */
export function inOneMessage(docs: HandoffDoc[]): HandoffDoc[] {
  return upToSize(docs, ({ summary, payload, citations, artifacts }) => {
    const listed = citations.length * 300 + artifacts.reduce((sum, { length }) => sum + length, 0);
    return summary.length + payload.length + listed;
  });
}
