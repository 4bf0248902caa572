import type { CallOf } from "../../runtime.ts";
import { toActor } from "./participants.ts";
import { presentRun } from "./present.ts";
import type { RunStore } from "./run-store.ts";
import type { closeRun as operation } from "./runs.contract.ts";
import { close } from "./transitions.ts";

export async function closeRun(store: RunStore, ctx: CallOf<typeof operation>) {
  const { run_id, outcome, note = null } = ctx.params;
  const { caller } = ctx.meta;
  const given = { actor: toActor(caller), at: new Date(store.now()), outcome, note };
  const closed_by_user_id = caller.kind === "user" ? caller.user_id : null;
  const also = { outcome, close_note: note, closed_by_user_id, closed_at: given.at };
  const { run } = await store.change(caller.tenant_id, run_id, (state) => close(state, given), { also });
  return presentRun(run);
}
