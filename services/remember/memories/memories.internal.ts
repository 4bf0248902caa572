import type { ActionSchema } from "moleculer";
import { coveredBy } from "../../../lib/access/visibility.ts";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/find-agent.ts";
import { idempotent } from "../../runtime.ts";
import { changedAfter, toEntriesPage } from "../search/feed.ts";
import { inOneMessage } from "./list.ts";
import { type MemoryDoc, present, toEntry } from "./memories.model.ts";
import { type Calls, type Memories, makeChange } from "./memories.ts";
import { type Recall, recall } from "./search.ts";

interface LoadParams {
  ids: string[];
  /** Omits the content too, most of a memory's size, to keep messages between nodes small. */
  brief?: boolean;
}

/** Actions for other domains. */
export function internalActions(memories: Memories): Record<string, ActionSchema> {
  const { rows } = memories;

  async function load(tenant_id: string, { ids, brief }: LoadParams): Promise<MemoryDoc[]> {
    const filter = { _id: { $in: ids } };
    const docs = brief
      ? await rows.find(tenant_id, filter, {
          projection: { content: 0, metadata: 0, citations: 0, corrections: 0 },
        })
      : await rows.find(tenant_id, filter, {
          projection: { metadata: 0, citations: 0 },
          bounded: "CHUNK in readable.ts",
        });
    return docs.map((doc) => ({ ...doc, content: doc.content ?? "", metadata: "{}", citations: [] }));
  }

  return {
    any: idempotent<{ tenant_id: string }>(({ params }) => rows.exists(params.tenant_id, {})),

    /** Returns, in any order, the memories that `GET /memories/{id}` would show the caller. */
    readable: idempotent<LoadParams>(async (ctx) => {
      const { caller } = ctx.meta;
      const [access, docs] = await Promise.all([callerAccess(ctx), load(caller.tenant_id, ctx.params)]);
      const readable = docs.filter((doc) => memories.mayReadById(caller, access, doc));
      return memories.presentAll(ctx, readable, access);
    }),

    /** Returns these memories without access checks and in any status: never show them as they are. */
    get_many: idempotent<LoadParams & { tenant_id: string }>(async ({ params }) => {
      const docs = await load(params.tenant_id, params);
      return docs.filter(({ status }) => status !== "pending").map(present);
    }),

    /** Returns which of these exist, in any status. */
    existing: idempotent<{ tenant_id: string; ids: string[] }>(async ({ params: { tenant_id, ids } }) => {
      const existing = await rows.find(tenant_id, { _id: { $in: ids } }, { projection: { _id: 1 } });
      return existing.map(({ _id }) => _id);
    }),

    /** Lets erasures by a subject find the memories that cite a document. */
    add_subject: idempotent<{ tenant_id: string; document_id: string; subject: string }>(({ params }) => {
      const { tenant_id, document_id, subject } = params;
      const $addToSet = { subjects: subject, source_subjects: subject };
      return rows.updateMany(tenant_id, { "citations.document_id": document_id }, { $addToSet });
    }),

    recall: idempotent<Recall>((ctx) => recall(memories, ctx)),
    collapse: idempotent<Collapse>((ctx) => collapse(memories, ctx, ctx.params)),

    /** Serves search's catch-up: memories in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      toEntriesPage(inOneMessage(await changedAfter(rows, params)), toEntry),
    ),
  };
}

interface Collapse {
  tenant_id: string;
  /** Makes a second run of the same merge a no-op. */
  merge_id: string;
  winner_id: string;
  loser_id: string;
  /** The winner's new content; null keeps its content. */
  content: string | null;
  /** Origin of the merge: `proposal` or `duplicate`. */
  origin: string;
}

/**
 * Merges one memory into another, as `merges` decided (spec: States, Merge proposal); returns whether that is done. The
 * loser is superseded first; unless the winner is in force after that, the loser is restored. Of concurrent merges,
 * replacements or deletions the later one sees the earlier one, so no memory is lost in a cycle.
 */
async function collapse(memories: Memories, ctx: Calls, merge: Collapse): Promise<boolean> {
  const loser = await mergeAway(memories, merge);
  if (loser?.superseded_by !== merge.winner_id) return false;
  const winner = await enrich(memories, merge, loser);
  const changed = winner ? [loser, winner] : [await restore(memories, merge)];
  await memories.afterChange(
    ctx,
    changed.filter((doc) => doc !== null),
  );
  return winner !== null;
}

async function mergeAway({ rows, now }: Memories, merge: Collapse): Promise<MemoryDoc | null> {
  const { tenant_id, winner_id, loser_id, origin } = merge;
  const at = now();
  const left = { superseded_by: winner_id, invalid_at: at, merge_origin: origin };
  const winner = await rows.findOne(tenant_id, { _id: winner_id });
  // Its scope could have been promoted since the decision.
  const active = { _id: loser_id, status: "active" as const, ...(winner && coveredBy(winner)) };
  const doc = await rows.update(tenant_id, active, makeChange("merged", at, { status: "merged", ...left }));
  return doc ?? rows.findOne(tenant_id, { _id: loser_id });
}

/** Adds the merged content and the loser's provenance to the winner. Returns null if the winner is not in force. */
async function enrich({ rows, now }: Memories, merge: Collapse, loser: MemoryDoc): Promise<MemoryDoc | null> {
  const { tenant_id, merge_id, winner_id, content } = merge;
  const { citations = [], subjects = [] } = loser;
  const says = content !== null || citations.length > 0;
  const change = says ? makeChange("updated", now(), content === null ? {} : { content }) : {};
  const $push = { ...change.$push, merges: merge_id };
  // Erasing these subjects then erases the merged content too.
  const about = { $each: says ? subjects : [] };
  // Both may come from the same source.
  const $addToSet = { citations: { $each: citations }, subjects: about, source_subjects: about };
  const once = { _id: winner_id, status: "active" as const, merges: { $ne: merge_id } };
  const winner = await rows.update(tenant_id, once, { ...change, $push, $addToSet });
  if (winner) return winner;
  const there = await rows.findOne(tenant_id, { _id: winner_id });
  return there?.merges?.includes(merge_id) ? there : null;
}

function restore({ rows, now }: Memories, { tenant_id, winner_id, loser_id }: Collapse) {
  const merged = { _id: loser_id, status: "merged" as const, superseded_by: winner_id };
  const active = { status: "active" as const, superseded_by: null, invalid_at: null };
  const restored = makeChange("restored", now(), active);
  return rows.update(tenant_id, merged, { ...restored, $unset: { merge_origin: 1 } });
}
