import { fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { defined } from "../../../lib/defined.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, type CallOf, idempotent, type ServiceFactory } from "../../runtime.ts";
import { type EraseMemories, eraseRows } from "../memories/erase-rows.ts";
import { standingMemories } from "../memories/readable.ts";
import { browseFindings, listFindings } from "./findings.contract.ts";
import { CursorModel, FindingModel } from "./findings.model.ts";
import { present, readFindings } from "./read.ts";
import { Relay } from "./relay.ts";
import { type Findings, keepPositions } from "./sequence.ts";

const SWEEP_MS = 2_000;

export const findingsService: ServiceFactory = ({ store }) => {
  const rows = store.collection(FindingModel);
  const cursors = store.collection(CursorModel);
  const findings: Findings = { rows, cursors, now: () => new Date(store.now()) };
  const relay = new Relay(findings);
  const loop = new SharedLoop(
    "relay",
    (broker) => relay.run(broker),
    SWEEP_MS,
    "findings: some could not be numbered; the next sweep retries",
  );

  return {
    name: "findings",
    mixins: [loop.mixin],
    actions: {
      list: action(listFindings, async (ctx) => {
        // Includes all memories whose write was answered before this request.
        await relay.run(ctx.broker, ctx.meta.caller.tenant_id);
        return readFindings(findings, ctx);
      }),
      browse: action(browseFindings, async (ctx) => {
        await relay.run(ctx.broker, ctx.meta.caller.tenant_id);
        return browse(findings, ctx);
      }),

      /** Removes the findings of erased memories; returns how many. */
      erase_memories: idempotent<EraseMemories>(async ({ params }) => {
        const { tenant_id, ids, dry_run } = params;
        if (!dry_run) await keepPositions(findings, tenant_id, ids);
        return { findings: await eraseRows(rows, params, { _id: { $in: ids } }) };
      }),
    },

    events: {
      "findings.due"() {
        // Every node hears of it.
        if (loop.isOwn) loop.nudge();
      },
    },
  };
};

/** Returns a page of the findings for a person, newest first. */
async function browse({ rows, now }: Findings, ctx: CallOf<typeof browseFindings>) {
  const { agent_id, memory_id, limit = 50, cursor } = ctx.params;
  const filter = {
    ...defined({ agent_id, _id: memory_id }),
    ...(cursor !== undefined && { seq: { $lt: Number(fromCursor(cursor, "seq").value) } }),
  };
  const options = { sort: { seq: -1 } as const, limit: limit + 1 };
  const found = await rows.find(ctx.meta.caller.tenant_id, filter, options);
  const { page, next_cursor } = pageOf({ rows: found }, limit, "seq");
  const memories = await standingMemories(
    ctx,
    page.map(({ _id }) => _id),
    now().getTime(),
  );
  const findings = page.flatMap((row) => {
    const memory = memories.get(row._id);
    return memory?.status === "active" ? [present(row, memory)] : [];
  });
  return { findings, next_cursor };
}
