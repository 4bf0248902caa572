import type { ActionSchema } from "moleculer";
import { unknownReference } from "../../../lib/contract/faults.ts";
import { idempotent } from "../../runtime.ts";
import type { RunStore } from "./run-store.ts";

/** Actions for other domains. */
export function internalActions({ runs }: RunStore): Record<string, ActionSchema> {
  return {
    /** Whether the tenant has completed a run. */
    any_completed: idempotent<{ tenant_id: string }>(async ({ params: { tenant_id } }) => {
      const achieved = { status: "closed" as const, outcome: "achieved" as const };
      return (await runs.exists(tenant_id, { status: "completed" })) || runs.exists(tenant_id, achieved);
    }),

    /** Refuses an unknown run. @throws Fault validation_error, field process_run_id. */
    require: idempotent<{ tenant_id: string; run_id: string }>(async ({ params: { tenant_id, run_id } }) => {
      if (await runs.exists(tenant_id, { _id: run_id })) return;
      throw unknownReference("process_run_id", "run", run_id);
    }),

    /** Returns the runs that an exemplar is attached to, or with a step whose reference pointer names it. */
    exemplar_referrers: idempotent<{ tenant_id: string; exemplar_id: string }>(async ({ params }) => {
      const { tenant_id, exemplar_id } = params;
      const brief = { projection: { _id: 1 } as const, limit: 20 };
      const [attached, pointing] = await Promise.all([
        runs.find(tenant_id, { exemplar_ids: exemplar_id }, brief),
        runs.find(tenant_id, { pointer_ids: exemplar_id }, brief),
      ]);
      return { attached: attached.map(({ _id }) => _id), pointing: pointing.map(({ _id }) => _id) };
    }),
  };
}
