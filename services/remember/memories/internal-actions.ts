import type { ActionSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { callerAccess } from "../../../mixins/access.ts";
import { changedAfter, entriesOf } from "../../../mixins/search-feed.ts";
import type { SearchEntriesPage } from "../../../storage/search/entry.ts";
import { idempotent } from "../../runtime.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";
import { inOneMessage, mayReadById, present, toEntry } from "./rows.ts";
import { presentAll } from "./shown.ts";

interface Asked {
  ids: string[];
  /** Without content and metadata, which are most of a memory: it is for messages between nodes to stay small. */
  brief?: boolean;
}

/** What other domains ask of memories. */
export function internalActions({ memories, now }: Parts): Record<string, ActionSchema> {
  return {
    /** Whether the tenant has any. */
    any: idempotent<{ tenant_id: string }>(({ params }) => memories.exists(params.tenant_id, {})),

    /** Of these memories those that `GET /memories/{id}` would show the caller, in no order. */
    readable: idempotent<Asked>(async (ctx) => {
      const { caller } = ctx.meta;
      const [access, docs] = await Promise.all([callerAccess(ctx), load(caller.tenant_id, ctx.params)]);
      const at = now().getTime();
      const readable = docs.filter((doc) => mayReadById(caller, access, doc, at));
      return presentAll({ memories, now }, ctx as Call, readable, access);
    }),

    /** These memories, whoever may read them and whatever became of them: never to be shown as they are. */
    get_many: idempotent<Asked & { tenant_id: string }>(async ({ params }) => {
      const docs = await load(params.tenant_id, params);
      return docs.filter(({ status }) => status !== "pending").map(present);
    }),

    /** Which of these there are, whatever became of them. */
    existing: idempotent<{ tenant_id: string; ids: string[] }>(async ({ params: { tenant_id, ids } }) => {
      const rows = await memories.find(tenant_id, { _id: { $in: ids } }, { projection: { _id: 1 } });
      return rows.map(({ _id }) => _id);
    }),

    /** For search to follow: memories in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      entriesOf(inOneMessage(await changedAfter(memories, params)), toEntry),
    ),
  };

  async function load(tenant_id: string, { ids, brief }: Asked): Promise<MemoryDoc[]> {
    const filter = { _id: { $in: ids } };
    if (!brief) return memories.find(tenant_id, filter);
    const docs = await memories.find(tenant_id, filter, { projection: { content: 0, metadata: 0 } });
    return docs.map((doc) => ({ ...doc, content: "", metadata: "{}" }));
  }
}
