import { afterPlace, fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { summarise } from "../../../lib/text/quoted.ts";
import { requireOwnedAgent } from "../../identity/agents/find-agent.ts";
import { readableMemories } from "../../remember/memories/readable.ts";
import type { CallOf } from "../../runtime.ts";
import type { getHandoffOfAgent, listHandoffsOfAgent } from "./agent-handoffs.contract.ts";
import { renderBrief } from "./brief.ts";
import { type HandoffDoc, present } from "./handoffs.model.ts";
import type { Handoffs } from "./handoffs.ts";

const SUMMARY = 280;
/** Omits the long fields. */
const BRIEFLY = { payload: 0, citations: 0, artifacts: 0 } as const;

/** Returns a page of an agent's handoffs for an admin or its owner. */
export async function listAgentHandoffs(handoffs: Handoffs, ctx: CallOf<typeof listHandoffsOfAgent>) {
  const { agent_id, limit = 50, cursor } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const behind =
    cursor === undefined
      ? []
      : [afterPlace(fromCursor(cursor, "updated_at"), { by: "updated_at", sign: -1 })];
  const filter = { agent_id, $and: [handoffs.standing(), ...behind] };
  const options = { sort: { updated_at: -1, _id: -1 } as const, limit: limit + 1, projection: BRIEFLY };
  const { page, next_cursor } = pageOf(
    await handoffs.rows.findWithin(tenant_id, filter, options),
    limit,
    "updated_at",
  );
  return { handoffs: page.map(listed), next_cursor };
}

/** Returns one of them with its brief. @throws Fault not_found */
export async function getAgentHandoff(handoffs: Handoffs, ctx: CallOf<typeof getHandoffOfAgent>) {
  const { agent_id, id } = ctx.params;
  const { tenant_id } = await requireOwnedAgent(ctx, agent_id);
  const doc = await handoffs.rows.findOne(tenant_id, { _id: id, agent_id, ...handoffs.standing() });
  if (!doc) throw notFound("handoff", id);
  const readable = await readableMemories(
    ctx,
    doc.citations.map(({ memory_id }) => memory_id),
    { brief: true },
  );
  const citations = doc.citations.map(({ memory_id, title }) => ({
    memory_id,
    title: readable.has(memory_id) ? title : "",
  }));
  const shown = { ...doc, citations } as HandoffDoc;
  return { ...present(shown), brief: renderBrief(shown) };
}

function listed(doc: HandoffDoc) {
  const { _id, name, version_num, origin_client, bundle_id } = doc;
  return {
    ...{ id: _id, name, summary: summarise(doc.summary, SUMMARY), version_num, origin_client, bundle_id },
    pinned_at: doc.pinned_at?.toISOString() ?? null,
    last_resumed_at: doc.last_resumed_at?.toISOString() ?? null,
    expires_at: doc.expires_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  };
}
