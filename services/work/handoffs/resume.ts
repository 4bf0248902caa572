import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { summarise } from "../../../lib/text/quoted.ts";
import { guardedWrite } from "../../../storage/guarded-write.ts";
import { renderBrief } from "./brief.ts";
import { findOwn, type Hit } from "./find.ts";
import type { HandoffDoc } from "./handoffs.model.ts";
import { fullTerm, type Handoffs } from "./handoffs.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Lead in score over the next match that makes a match unambiguous. */
const CLEAR_MARGIN = 0.15;
const MOST_CANDIDATES = 5;
const SUMMARY = 280;
/** Characters of a query in an error. */
const SHOWN = 200;

/**
 * Resumes the handoff that a query means, and returns its brief; the candidates if several match about equally (api:
 * Handoffs).
 *
 * @throws Fault not_found if nothing matches
 */
export async function resume(handoffs: Handoffs, ctx: Call<{ query: string }>) {
  const found = await guardedWrite(async () => {
    const meant = await findMeant(handoffs, ctx, ctx.params.query);
    if (Array.isArray(meant)) return meant;
    const { _id, pinned_at, version_num } = meant;
    const at = handoffs.now();
    const stamped = { last_resumed_at: at, ...fullTerm(at, pinned_at) };
    // Null if the handoff was changed meanwhile.
    return handoffs.change(ctx, { _id, pinned_at, version_num, ...handoffs.standing() }, stamped);
  }, "The handoff is being changed concurrently. Retry.");
  if (Array.isArray(found)) return { candidates: found.map(toCandidate) };
  ctx.meta.$responseType = "text/markdown; charset=utf-8";
  return renderBrief(found);
}

async function findMeant(
  handoffs: Handoffs,
  ctx: RequestContext,
  query: string,
): Promise<HandoffDoc | Hit[]> {
  const id = query.trim().toLowerCase();
  const named =
    (await handoffs.find(ctx, { name: query })) ?? (UUID.test(id) && (await handoffs.find(ctx, { _id: id })));
  if (named) return named;
  const { hits } = await findOwn(handoffs, ctx, { query, limit: MOST_CANDIDATES });
  const [best, next] = hits;
  if (!best) throw noneMeant(query.slice(0, SHOWN));
  const isClear = ({ score }: { score: number }) => best.score - score >= CLEAR_MARGIN;
  return isClear(next ?? { score: 0 }) ? best.doc : hits.filter((hit) => !isClear(hit));
}

function noneMeant(asked: string): Fault {
  const message = `You have no handoff with the name or id "${asked}", and none that matches these words. List your handoffs to see their names.`;
  return new Fault("not_found", message, { resource_type: "handoff", resource_id: asked });
}

function toCandidate({ doc, score }: Hit) {
  const { _id, name, summary, updated_at } = doc;
  return { id: _id, name, summary: summarise(summary, SUMMARY), score, updated_at: updated_at.toISOString() };
}
