import type { Call } from "../../../lib/access/caller.ts";
import { notFound } from "../../../lib/contract/faults.ts";
import { summaryOf } from "../../../lib/text/quoted.ts";
import { guardedWrite } from "../../../mixins/guarded-write.ts";
import { ServiceLoop } from "../../../mixins/loop.ts";
import { action, type ServiceFactory } from "../../runtime.ts";
import { renderBrief } from "./brief.ts";
import { type Hit, list } from "./find.ts";
import * as contract from "./handoffs.contract.ts";
import { HandoffModel } from "./handoffs.model.ts";
import { internalActions } from "./internal-actions.ts";
import { change, type Parts, remove, requireOwn } from "./parts.ts";
import { reap } from "./reaper.ts";
import { resume } from "./resume.ts";
import { fullTerm, present } from "./rows.ts";
import { save } from "./save.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
const SWEEP_MS = 60_000;
const SUMMARY = 280;

/** Stores named snapshots of an agent's work for another client to resume (spec: Handoff). */
export const handoffsService: ServiceFactory = ({ store, log }) => {
  const parts: Parts = { handoffs: store.collection(HandoffModel), now: () => new Date(store.now()), log };
  const reaper = new ServiceLoop(
    (broker) => reap(parts, broker),
    SWEEP_MS,
    "handoffs: some are removed later",
  );

  /** Pins or unpins; does nothing if it already is in that state. */
  function setPinned(ctx: Call<{ id: string }>, pinned: boolean) {
    return guardedWrite(async () => {
      const doc = await requireOwn(parts, ctx);
      const { _id, pinned_at, expires_at } = doc;
      if ((pinned_at !== null) === pinned) return present(doc);
      const at = parts.now();
      const next = pinned
        ? { pinned_at: at, reap_at: null }
        : { pinned_at: null, ...fullTerm(at, { pinned_at: null }) };
      const changed = await change(parts, ctx, { _id, pinned_at, expires_at }, next);
      return changed && present(changed);
    }, "The handoff is being changed by others: send it again.");
  }

  return {
    name: "handoffs",
    mixins: [reaper.mixin],
    actions: {
      save: action(contract.saveHandoff, async (ctx) => {
        const { doc, isNew } = await save(parts, ctx);
        if (!isNew) ctx.meta.$statusCode = 200;
        return present(doc);
      }),

      list: action(contract.listHandoffs, async (ctx) => (await list(parts, ctx)).map(present)),
      get: action(contract.getHandoff, async (ctx) => present(await requireOwn(parts, ctx))),

      resume: action(contract.resumeHandoff, async (ctx) => {
        const found = await resume(parts, ctx);
        if ("candidates" in found) return { candidates: found.candidates.map(toCandidate) };
        ctx.meta.$responseType = MARKDOWN;
        return renderBrief(found.resumed);
      }),

      export: action(contract.exportHandoff, async (ctx) => renderBrief(await requireOwn(parts, ctx))),

      delete: action(contract.deleteHandoff, async (ctx) => {
        const doc = await requireOwn(parts, ctx);
        if (!(await remove(parts, ctx, doc))) throw notFound("handoff", doc._id);
      }),

      pin: action(contract.pinHandoff, (ctx) => setPinned(ctx, true)),
      unpin: action(contract.unpinHandoff, (ctx) => setPinned(ctx, false)),
      ...internalActions(parts),
    },
  };
};

function toCandidate({ doc, score }: Hit) {
  const { _id, name, summary, updated_at } = doc;
  return { id: _id, name, summary: summaryOf(summary, SUMMARY), score, updated_at: updated_at.toISOString() };
}
