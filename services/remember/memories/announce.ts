import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { Due } from "../../../mixins/due.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { MemoryChange } from "./events.contract.ts";
import type { MemoryStatus } from "./memories.contract.ts";
import type { MemoryDoc } from "./memories.model.ts";
import { corrected, validityOf } from "./validity.ts";

const BATCH = 200;
const BRIEF = { content: 0, metadata: 0, citations: 0 } as const;

/**
 * Publishes the events in the rows' outboxes. An event's id is the announcement's, so a repetition adds nothing. The task
 * returns whether there may be more.
 */
export function newAnnouncements(
  memories: TenantCollection<MemoryDoc>,
  now: () => number,
): (broker: ServiceBroker) => Promise<boolean> {
  const due = new Due({ rows: memories, by: "announce_at", now, batch: BATCH, projection: BRIEF });
  const announce = async (broker: ServiceBroker, tenant_id: string, rows: MemoryDoc[]) => {
    // Repeated here in case the process that superseded it was interrupted.
    const superseded = rows.filter(
      ({ superseded_by, announce }) => superseded_by && announce?.some(({ what }) => what === "superseded"),
    );
    await Promise.all(superseded.map((row) => recordSuperseding(broker, row)));
    await endPredecessors({ rows: memories, now: () => new Date(now()) }, rows);
    await broker.call("events.emit_taken", { tenant_id, emissions: rows.flatMap(makeEvents) });
    const done = rows.map(({ _id, version }) => ({
      updateOne: {
        // A row that changed meanwhile has more to publish: all of it is published again.
        filter: { _id, tenant_id, version },
        update: { $unset: { announce: 1, announce_at: 1 } },
      },
    }));
    await memories.bulk(done);
  };
  return (broker) => due.work((tenant_id, rows) => announce(broker, tenant_id, rows));
}

/**
 * Has what memories superseded hold until these begin to, as another process may have done meanwhile. Returns what they
 * superseded. A row that changes at the same time is left to the announcement of its successor.
 */
export async function endPredecessors(
  { rows, now }: { rows: TenantCollection<MemoryDoc>; now(): Date },
  successors: readonly MemoryDoc[],
): Promise<MemoryDoc[]> {
  const changed = successors.filter(({ announce }) => announce?.some(({ what }) => what === "updated"));
  const [{ tenant_id } = {}] = changed;
  if (tenant_id === undefined) return [];
  const byId = new Map(changed.map((row) => [row._id, row]));
  const filter = { superseded_by: { $in: [...byId.keys()] }, status: "superseded" as const };
  const predecessors = await rows.findWithin(tenant_id, filter, {});
  const ended = predecessors.rows.map(async (row) => {
    const { agent_id, user_id, updated_at, ...successor } = byId.get(
      row.superseded_by as string,
    ) as MemoryDoc;
    const succeeded_at = validityOf(successor).from;
    if (row.succeeded_at?.getTime() === succeeded_at.getTime()) return;
    const by = { agent_id, user_id, reason: "its successor was corrected" };
    const $set = {
      ...{ succeeded_at, changed_at: now() },
      ...(!row.valid_until && corrected(row, by, updated_at)),
    };
    const { _id, version } = row;
    await rows.update(tenant_id, { _id, version }, { $set, $inc: { version: 1 } });
  });
  await Promise.all(ended);
  return predecessors.rows.length > 0 ? (await rows.findWithin(tenant_id, filter, {})).rows : [];
}

/** Records that a memory's successor supersedes it (spec: States, Memory). */
export async function recordSuperseding(
  ctx: Pick<ServiceBroker, "call">,
  { tenant_id, _id, superseded_by }: MemoryDoc,
): Promise<void> {
  const edge = { source_memory_id: superseded_by, target_memory_id: _id, relationship_type: "SUPERSEDES" };
  await ctx.call("relationships.record_provenance", { tenant_id, edges: [edge] });
}

/** Returns the events in a row's outbox. */
function makeEvents(row: MemoryDoc) {
  const { _id, scope, agent_id, team_id, type, superseded_by } = row;
  // A pending memory has nothing to announce.
  const status = row.status as MemoryStatus;
  const state = { memory_id: _id, type, scope, team_id, agent_id, status, superseded_by };
  return (row.announce ?? []).map(({ id, what, at }) => ({
    type: `service.memory.${what}` satisfies PlatformEventType,
    subject: _id,
    data: { ...state, at: at.toISOString() } satisfies Static<typeof MemoryChange>,
    dedupe: `memory ${_id} ${id}`,
    audience: { scope, agent_id, team_id },
  }));
}
