import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { Due } from "../../../mixins/due.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import type { MemoryCitation } from "./events.contract.ts";
import type { CiteDoc, MemoryDoc } from "./memories.model.ts";
import type { Memories } from "./memories.ts";

/** How long a citation counts. */
export const CITE_MS = 30 * DAY_MS;
const BATCH = 100;

/**
 * Records a citation, and counts it, so that a list or a search after the answer knows it; repeating it on the same day
 * changes nothing. `newSettlement` publishes it, counts what a crash left uncounted, and counts again when it has ended.
 * @returns whether it is new
 * @throws Fault not_found
 */
export async function cite(
  memories: Memories,
  ctx: Call<{ id: string; originating_query_id?: string | null }>,
): Promise<boolean> {
  const { id, originating_query_id = null } = ctx.params;
  const { caller } = ctx.meta;
  const { doc } = await memories.findReadable(ctx, id);
  const at = memories.now();
  if (doc.status === "forgotten" || memories.isExpired(doc)) throw notFound("memory", id);
  const cited_by = callerId(caller);
  const owner_id = doc.agent_id ?? doc.user_id;
  const row: CiteDoc = {
    ...{ _id: `${id} ${cited_by} ${at.toISOString().slice(0, 10)}`, tenant_id: caller.tenant_id },
    ...{ memory_id: id, cited_by, owner_id, own: owner_id === cited_by },
    ...{ originating_query_id, at, announced: false, due_at: at },
  };
  if ((await memories.cites.insert(row).catch(nullIfTaken)) === null) return false;
  await countCites(memories, ctx.broker, row);
  return true;
}

/** Applies the effects of due citations. The task returns whether there may be more. */
export function newSettlement(memories: Memories): (broker: ServiceBroker) => Promise<boolean> {
  const now = () => memories.now().getTime();
  const due = new Due<CiteDoc>({ rows: memories.cites, by: "due_at", now, batch: BATCH });
  return (broker) => due.each((row) => settleCite(memories, broker, row));
}

async function settleCite(memories: Memories, broker: ServiceBroker, row: CiteDoc): Promise<void> {
  const { cites, now } = memories;
  const { _id, tenant_id } = row;
  const memory = await countCites(memories, broker, row);
  if (!memory || now().getTime() - row.at.getTime() >= CITE_MS) {
    await cites.delete(tenant_id, { _id });
    return;
  }
  if (!row.announced) await announce(broker, row, memory);
  const due_at = new Date(row.at.getTime() + CITE_MS);
  await cites.update(tenant_id, { _id }, { $set: { announced: true, due_at } });
}

/** Recomputes the counts of the cited memory from its citations. Returns null if the memory is gone. */
async function countCites(
  memories: Memories,
  broker: ServiceBroker,
  { tenant_id, memory_id, at }: CiteDoc,
): Promise<MemoryDoc | null> {
  const { rows, cites, now } = memories;
  for (;;) {
    // Read before counting, and written at this version only: another node may have counted more meanwhile.
    const doc = await rows.findOne(tenant_id, { _id: memory_id });
    if (!doc) return null;
    const since = new Date(now().getTime() - CITE_MS);
    const rank_cites = await cites.count(tenant_id, { memory_id, own: false, at: { $gt: since } });
    const last_cited_at = doc.last_cited_at && doc.last_cited_at > at ? doc.last_cited_at : at;
    if (doc.rank_cites === rank_cites && doc.last_cited_at?.getTime() === last_cited_at.getTime()) return doc;
    const counts = { rank_cites, last_cited_at, changed_at: now() };
    const known = { _id: memory_id, version: doc.version };
    const counted = await rows.update(tenant_id, known, { $set: counts, $inc: { version: 1 } });
    if (!counted) continue;
    if (doc.rank_cites !== rank_cites) await memories.afterChange(broker, [counted]);
    return counted;
  }
}

async function announce(
  broker: ServiceBroker,
  { _id, tenant_id, memory_id, cited_by, own, originating_query_id, at }: CiteDoc,
  { scope, agent_id, team_id }: MemoryDoc,
): Promise<void> {
  await broker.call("events.emit", {
    tenant_id,
    type: "memory.cited" satisfies PlatformEventType,
    subject: memory_id,
    data: { memory_id, cited_by, own, originating_query_id, at: at.toISOString() } satisfies Static<
      typeof MemoryCitation
    >,
    dedupe: `cite ${_id}`,
    audience: { scope, agent_id, team_id },
  });
}
