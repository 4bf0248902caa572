import type { Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { guardedWrite } from "../../../mixins/guarded-write.ts";
import { findOwn, type Hit } from "./find.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { agentOf, change, type Parts } from "./parts.ts";
import { fullTerm, standing } from "./rows.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Lead in score over the next match that makes a match unambiguous. */
const CLEAR_MARGIN = 0.15;
const MOST_CANDIDATES = 5;

/**
 * Resumes the handoff that a query means; none if several match about equally (api: Handoffs).
 *
 * @throws Fault not_found if nothing matches
 */
export function resume(
  parts: Parts,
  ctx: Call<{ query: string }>,
): Promise<{ resumed: HandoffDoc } | { candidates: Hit[] }> {
  return guardedWrite(async () => {
    const found = await meant(parts, ctx);
    if ("candidates" in found) return found;
    const resumed = await stamp(parts, ctx, found.one);
    return resumed && { resumed };
  }, "The handoff is being changed by others: send it again.");
}

async function meant(
  parts: Parts,
  ctx: Call<{ query: string }>,
): Promise<{ one: HandoffDoc } | { candidates: Hit[] }> {
  const { query } = ctx.params;
  const named = (await standingOne(parts, ctx, { name: query })) ?? (await byId(parts, ctx, query.trim()));
  if (named) return { one: named };
  const { hits } = await findOwn(parts, ctx, { query, limit: MOST_CANDIDATES });
  const [best, next] = hits;
  if (!best) throw notFound("handoff", query.slice(0, 200));
  return best.score - (next?.score ?? 0) >= CLEAR_MARGIN ? { one: best.doc } : { candidates: hits };
}

function byId(parts: Parts, ctx: Call, text: string): Promise<HandoffDoc | null> | null {
  return UUID.test(text) ? standingOne(parts, ctx, { _id: text.toLowerCase() }) : null;
}

function standingOne({ handoffs, now }: Parts, ctx: Call, wanted: object): Promise<HandoffDoc | null> {
  const { tenant_id, agent_id } = agentOf(ctx);
  return handoffs.findOne(tenant_id, { agent_id, ...wanted, ...standing(now()) });
}

/** Records the resume and restarts the term. Returns null if the handoff was changed meanwhile. */
function stamp(
  parts: Parts,
  ctx: Call,
  { _id, pinned_at, version_num }: HandoffDoc,
): Promise<HandoffDoc | null> {
  const at = parts.now();
  const stamped = { last_resumed_at: at, ...fullTerm(at, { pinned_at }) };
  return change(parts, ctx, { _id, pinned_at, version_num, ...standing(at) }, stamped);
}
