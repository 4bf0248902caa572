import { MEMORY_SCOPES } from "../../../lib/access/visibility.ts";
import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** A memory that became institutional; `_id` is the memory's, as this happens once. */
export interface FindingDoc extends DocumentOf<typeof findings> {}

const findings = tenantSchema({
  /** Its position in the tenant's sequence, from 1. */
  seq: t.number(),
  /** The memory's owner. */
  agent_id: t.nullable(t.string()),
  origin: t.oneOf(["created", "promoted"]),
  from_scope: t.nullable(t.oneOf(MEMORY_SCOPES)),
  recorded_at: t.date(),
});
findings.index({ tenant_id: 1, seq: 1 }, { unique: true });
findings.index({ tenant_id: 1, agent_id: 1, seq: 1 });

/**
 * How far an agent has read; `_id` is the agent's. The tenant's own row has the last position of erased findings
 * (findings.service.ts).
 */
export interface CursorDoc extends DocumentOf<typeof cursors> {}

const cursors = tenantSchema({
  seq: t.number(),
  updated_at: t.date(),
});

export const FindingModel: Model<FindingDoc> = {
  erasure: { memories: "findings.erase_memories" },
  move: { stage: 0 },
  name: "findings",
  schema: findings,
};
export const CursorModel: Model<CursorDoc> = {
  erasure: { none: "a position", owner: ["_id"] },
  move: { stage: 0 },
  name: "finding_cursors",
  schema: cursors,
};
