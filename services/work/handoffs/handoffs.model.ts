import { presentAs } from "../../../lib/contract/present-as.ts";
import { ERASED } from "../../../lib/text/subject.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { SearchEntry } from "../../../storage/search/entry.ts";
import { Handoff } from "./handoffs.contract.ts";

/** A named snapshot of where an agent's work stands (spec: Handoff). */
export interface HandoffDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  agent_id: t.string(),
  name: t.text(),
  summary: t.large(t.text()),
  /** JSON: callers' keys must have no meaning in the store. */
  payload: t.large(t.texts(t.json())),
  /** With the memories' titles as of the last save. */
  citations: t.large(t.subdocuments({ memory_id: t.string(), title: t.text() })),
  artifacts: t.large(t.array(t.text())),
  origin_client: t.nullable(t.text()),
  bundle_id: t.nullable(t.string()),
  version_num: t.number(),
  pinned_at: t.nullable(t.date()),
  last_resumed_at: t.nullable(t.date()),
  expires_at: t.date(),
  /** `expires_at` unless pinned: used by the reaper. */
  reap_at: t.nullable(t.date()),
  created_at: t.date(),
  /** When it was saved last. */
  updated_at: t.date(),
  /** Raised by every change, for search and to guard writes. */
  version: t.number(),
  changed_at: t.date(),
  /** Seed of the request that saved it, if that had an Idempotency-Key: a repetition saves nothing. */
  save_seed: t.nullable(t.string()),
});
schema.index({ tenant_id: 1, agent_id: 1, name: 1 }, { unique: true });
schema.index({ tenant_id: 1, agent_id: 1, updated_at: -1, _id: -1 });
// For erasure of memories.
schema.index({ tenant_id: 1, "citations.memory_id": 1 });
// For bundles that are due for removal.
schema.index({ tenant_id: 1, bundle_id: 1 });
schema.index({ reap_at: 1 });
// For search's catch-up.
schema.index({ changed_at: 1, _id: 1 });

export const HandoffModel: Model<HandoffDoc> = {
  erasure: {
    ...{ agent: "handoffs.erase_agent", memories: "handoffs.erase_memories" },
    replaced: { of: [], version: "version", settle: "handoffs.settle_erased" },
  },
  move: { stage: 1 },
  anew: ({ pinned_at, expires_at }, changed_at) => ({ changed_at, reap_at: pinned_at ? null : expires_at }),
  erased: ({ _id, name }, changed_at) => ({
    changed_at,
    ...(name === ERASED && { name: `${ERASED} ${_id}` }),
  }),
  name: "handoffs",
  ids: "uuid",
  schema,
};

/** More text than this does not make a handoff easier to find. */
const SEARCHED_CHARACTERS = 32_768;

/** Formats a handoff for its agent. */
export const present = (doc: HandoffDoc) =>
  presentAs(Handoff, doc, {
    payload: JSON.parse(doc.payload) as Record<string, unknown>,
    citations: doc.citations.map(({ memory_id, title }) => ({ memory_id, title })),
    scope: "agent",
  });

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
