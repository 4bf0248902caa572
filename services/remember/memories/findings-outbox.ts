import type { ActionSchema } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import { idempotent } from "../../runtime.ts";
import type { MemoryDoc } from "./memories.model.ts";

/** Hands over memories that became institutional and need a position among the findings (findings/relay.ts). */
export function findingsOutbox(memories: TenantCollection<MemoryDoc>): Record<string, ActionSchema> {
  return {
    /** Returns the oldest due memories, of one tenant or of all. */
    findings_due: idempotent<{ tenant_id?: string; limit: number }>(
      async ({ params: { tenant_id, limit } }) => {
        const due = { finding_due_at: { $gt: new Date(0) }, status: { $ne: "pending" as const } };
        const options = { sort: { finding_due_at: 1, _id: 1 } as const, limit, projection: PROJECTION };
        const rows = (
          tenant_id === undefined
            ? await memories.system.find(due, options).toArray()
            : await memories.find(tenant_id, due, options)
        ) as MemoryDoc[];
        return rows.map((row) => ({
          memory_id: row._id,
          tenant_id: row.tenant_id,
          agent_id: row.agent_id,
          origin: row.finding_origin,
          from_scope: row.finding_from_scope ?? null,
          at: row.finding_due_at?.getTime(),
        }));
      },
    ),

    /** Removes memories that have their position from the outbox. */
    findings_placed: idempotent<{ tenant_id: string; ids: string[] }>(({ params: { tenant_id, ids } }) =>
      memories.updateMany(tenant_id, { _id: { $in: ids } }, { $unset: { finding_due_at: 1 } }),
    ),
  };
}

const PROJECTION = {
  tenant_id: 1,
  agent_id: 1,
  finding_due_at: 1,
  finding_origin: 1,
  finding_from_scope: 1,
} as const;
