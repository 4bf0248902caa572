import { fromCursor, pageOf } from "../../../lib/contract/cursor.ts";
import { defined } from "../../../lib/defined.ts";
import type { CallOf } from "../../runtime.ts";
import { standingMemories } from "../memories/readable.ts";
import type { browseFindings } from "./findings.contract.ts";
import { present } from "./read.ts";
import type { Findings } from "./sequence.ts";

/** Returns a page of the findings for a person, newest first. */
export async function browse({ rows, now }: Findings, ctx: CallOf<typeof browseFindings>) {
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
