import type { ActionSchema } from "moleculer";
import { idempotent } from "../runtime.ts";
import { changeOf } from "./changes.ts";
import type { MemoryDoc } from "./memories.model.ts";
import type { Parts } from "./parts.ts";

interface Collapse {
  tenant_id: string;
  /** Of two runs of the same merge the second changes nothing. */
  merge_id: string;
  winner_id: string;
  loser_id: string;
  /** What the winner says from now on; null: what it says. */
  content: string | null;
  /** How the merge came up: `proposal` or `duplicate`. */
  origin: string;
}

/** Merging one memory into another, as `merges` decided it (spec: States, Merge proposal). */
export function collapseActions(parts: Parts): Record<string, ActionSchema> {
  const { memories, now } = parts;

  async function mergeAway({ tenant_id, winner_id, loser_id, origin }: Collapse): Promise<MemoryDoc | null> {
    const at = now();
    const merged = {
      status: "merged",
      superseded_by: winner_id,
      invalid_at: at,
      merge_origin: origin,
    } as const;
    const active = { _id: loser_id, status: "active" as const };
    const doc = await memories.update(tenant_id, active, changeOf("merged", at, merged));
    return doc ?? memories.findOne(tenant_id, { _id: loser_id });
  }

  /** The winner gets what was written of both, and where the loser came from. */
  async function enrich({ tenant_id, merge_id, winner_id, content }: Collapse, loser: MemoryDoc | null) {
    const { citations = [], subjects = [] } = loser ?? {};
    if (content === null && citations.length === 0) return null;
    const { $push, ...change } = changeOf("updated", now(), content === null ? {} : { content });
    const pushes = { ...$push, merges: merge_id, citations: { $each: citations } };
    const once = { _id: winner_id, status: "active", merges: { $ne: merge_id } };
    // What it says of them now goes too when they are erased.
    const $addToSet = { subjects: { $each: subjects }, source_subjects: { $each: subjects } };
    return memories.update(tenant_id, once as never, { ...change, $push: pushes, $addToSet } as never);
  }

  return {
    collapse: idempotent<Collapse>(async (ctx) => {
      const loser = await mergeAway(ctx.params);
      const winner = await enrich(ctx.params, loser);
      await parts.changes.after(
        ctx,
        [loser, winner].filter((doc) => doc !== null),
      );
    }),
  };
}
