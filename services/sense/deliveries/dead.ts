import { type DeliveryDoc, TIMELINE_ENTRIES } from "./deliveries.model.ts";

interface Death {
  tenant_id: string;
  /** Null for what never was a delivery. */
  agent_id: string | null;
  at: Date;
  reason: string;
}

/** Reasons are listed, chosen by and told in events: one that quotes what came is cut. In characters. */
const MOST_REASON = 1000;

/** As much of a reason as is kept. */
export function keptReason(reason: string): string {
  if (reason.length <= MOST_REASON) return reason;
  return `${reason.slice(0, MOST_REASON - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** What only a dead row has. Its keys are text so that lists and choices are ranges of one small index each. */
export function deadFields({ tenant_id, agent_id, at, reason }: Death) {
  return {
    state: "dead" as const,
    dlq_reason: reason,
    dead_lettered_at: at,
    dlq_key: `${tenant_id} ${at.toISOString()}`,
    ...(agent_id && { dlq_agent_key: `${agent_id} ${at.toISOString()}` }),
    dlq_reason_key: reasonKey(tenant_id, reason),
    announce_at: at,
  };
}

export function reasonKey(tenant_id: string, reason: string): string {
  return `${tenant_id} ${reason}`;
}

/** The write that makes a pending delivery a dead letter, and leaves the note that it is still to be announced. */
export function deadUpdate(death: Death) {
  const { at, reason } = death;
  return {
    $set: deadFields(death),
    $unset: { due_at: 1, lease: 1 } as const,
    $push: { timeline: { $each: [{ at, what: "dead" as const, reason }], $slice: -TIMELINE_ENTRIES } },
  };
}

/** What a row loses that is no longer a dead letter. */
export const NOT_DEAD = {
  dlq_reason: 1,
  dead_lettered_at: 1,
  dlq_key: 1,
  dlq_agent_key: 1,
  dlq_reason_key: 1,
  announce_at: 1,
  replay_at: 1,
} as const satisfies Partial<Record<keyof DeliveryDoc, 1>>;
