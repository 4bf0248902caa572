import type { Call } from "../../../lib/access/caller.ts";
import type { Access } from "../../../lib/access/visibility.ts";
import { callerAccess } from "../../../mixins/access.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";
import { mayReadById, present } from "./rows.ts";

type Rows = Pick<Parts, "memories" | "now">;

/** The fields that decide who may read a memory. */
const READERS = { scope: 1, agent_id: 1, user_id: 1, team_id: 1, status: 1, expires_at: 1 } as const;

/** Formats memories for the caller, without the ids of unreadable predecessors and successors. */
export async function presentAll({ memories, now }: Rows, ctx: Call, docs: MemoryDoc[], known?: Access) {
  const linked = docs.flatMap(({ superseded_by, supersedes_id }) => [superseded_by, supersedes_id]);
  const ids = [...new Set(linked)].filter((id) => id !== null);
  if (ids.length === 0) return docs.map(present);
  const { caller } = ctx.meta;
  const [access, rows] = await Promise.all([
    known ?? callerAccess(ctx),
    memories.find(caller.tenant_id, { _id: { $in: ids } }, { projection: READERS }),
  ]);
  const at = now().getTime();
  const readable = new Set(rows.filter((row) => mayReadById(caller, access, row, at)).map(({ _id }) => _id));
  const shownId = (id: string | null) => (id !== null && readable.has(id) ? id : null);
  return docs.map((doc) => ({
    ...present(doc),
    supersedes_id: shownId(doc.supersedes_id),
    superseded_by: shownId(doc.superseded_by),
  }));
}

/** Formats one memory for the caller. */
export async function presentOne(rows: Rows, ctx: Call, doc: MemoryDoc) {
  const [shown] = await presentAll(rows, ctx, [doc]);
  return shown as ReturnType<typeof present>;
}
