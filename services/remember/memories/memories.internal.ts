import type { ActionSchema } from "moleculer";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import { callerAccess } from "../../identity/agents/read-access.ts";
import { idempotent } from "../../runtime.ts";
import { changedAfter, toEntriesPage } from "../search/feed.ts";
import { type Collapse, collapse } from "./collapse.ts";
import { inOneMessage } from "./list.ts";
import { type MemoryDoc, present, toEntry } from "./memories.model.ts";
import type { Memories } from "./memories.ts";
import { type Recall, recall } from "./search.ts";

interface Asked {
  ids: string[];
  /** Omits the content too, most of a memory's size, to keep messages between nodes small. */
  brief?: boolean;
}

/** Actions for other domains. */
export function internalActions(memories: Memories): Record<string, ActionSchema> {
  const { rows } = memories;

  async function load(tenant_id: string, { ids, brief }: Asked): Promise<MemoryDoc[]> {
    const filter = { _id: { $in: ids } };
    const docs = brief
      ? await rows.find(tenant_id, filter, { projection: { content: 0, metadata: 0, citations: 0 } })
      : await rows.find(tenant_id, filter, {
          projection: { metadata: 0, citations: 0 },
          bounded: "CHUNK in readable.ts",
        });
    return docs.map((doc) => ({ ...doc, content: doc.content ?? "", metadata: "{}", citations: [] }));
  }

  return {
    /** Whether the tenant has any. */
    any: idempotent<{ tenant_id: string }>(({ params }) => rows.exists(params.tenant_id, {})),

    /** Returns, in any order, the memories that `GET /memories/{id}` would show the caller. */
    readable: idempotent<Asked>(async (ctx) => {
      const { caller } = ctx.meta;
      const [access, docs] = await Promise.all([callerAccess(ctx), load(caller.tenant_id, ctx.params)]);
      const readable = docs.filter((doc) => memories.mayReadById(caller, access, doc));
      return memories.presentAll(ctx, readable, access);
    }),

    /** Returns these memories without access checks and in any status: never show them as they are. */
    get_many: idempotent<Asked & { tenant_id: string }>(async ({ params }) => {
      const docs = await load(params.tenant_id, params);
      return docs.filter(({ status }) => status !== "pending").map(present);
    }),

    /** Returns which of these exist, in any status. */
    existing: idempotent<{ tenant_id: string; ids: string[] }>(async ({ params: { tenant_id, ids } }) => {
      const found = await rows.find(tenant_id, { _id: { $in: ids } }, { projection: { _id: 1 } });
      return found.map(({ _id }) => _id);
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
