import { expectation } from "../../../lib/contract/faults.ts";
import { redact } from "../../../lib/text/redact.ts";
import { type DeliveryDoc, deadKeys, SETTLED, timelinePush } from "./deliveries.model.ts";

interface Death {
  tenant_id: string;
  /** Null for payloads that never were a delivery. */
  agent_id: string | null;
  at: Date;
  reason: string;
}

/** In characters. Reasons are listed, filtered and published: long quotes of a payload are cut. */
const MOST_REASON = 1000;

/** Returns a reason for storage: without what looks like a secret, and truncated. */
export function keptReason(text: string): string {
  const reason = redact(text);
  if (reason.length <= MOST_REASON) return reason;
  return `${reason.slice(0, MOST_REASON - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns the fields that only dead rows have. Their keys are text: lists and filters are ranges of one index each. */
export function deadFields({ tenant_id, agent_id, at, reason }: Death) {
  return {
    ...{ state: "dead" as const, dlq_reason: reason, dead_lettered_at: at },
    ...deadKeys({ tenant_id, agent_id, dead_lettered_at: at, dlq_reason: reason }),
    announce_at: at,
  };
}

/** Returns the update that dead-letters a pending delivery, with its log, and marks it to be announced. */
export function deadUpdate(death: Death, logged: Pick<DeliveryDoc, "log" | "log_at"> = {}) {
  const { at, reason } = death;
  return {
    $set: { ...logged, ...deadFields(death) },
    $unset: SETTLED,
    $push: timelinePush({ at, what: "dead", reason }),
  };
}

/** Fields removed from a row that is no longer a dead letter. */
export const NOT_DEAD = {
  dlq_reason: 1,
  dead_lettered_at: 1,
  dlq_key: 1,
  dlq_agent_key: 1,
  dlq_reason_key: 1,
  announce_at: 1,
  replay_at: 1,
} as const satisfies Partial<Record<keyof DeliveryDoc, 1>>;

/** Returns the reason of a dead letter whose budget is spent (spec: DLQ item). */
export function spentReason(budget: number, why: string): string {
  return `max attempts exceeded (${budget}): ${why}`;
}

const SPENT = /^max attempts exceeded \(\d+\): /;
/** Differences between two failures of one cause: times, ids and numbers, except the status of an answer. */
const VARIABLE = [
  /\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?/g,
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /\b(?=[a-z]*\d)[0-9a-z]{12,}\b/gi,
  /\b[a-z]{2,6}_[0-9a-z]{16,}\b/gi,
  /(?<![a-z\d]|\b(?:HTTP|status|code|with) )\d+(?:[.,:]\d+)*/gi,
];

/**
 * Returns the cause of a dead letter by its reason, the same for failures that differ only in numbers and ids: the line
 * that says what happened, without the trace of the program.
 */
export function causeOf(reason: string): string {
  const lines = reason
    .replace(SPENT, "")
    .trim()
    .split(/\s*\n\s*/);
  const isPython = lines[0]?.startsWith("Traceback (most recent call last)");
  const line = (isPython ? lines.findLast((each) => !/^(?:\^|~|File )/.test(each)) : lines[0]) ?? "";
  return VARIABLE.reduce((text, each) => text.replace(each, "…"), line) || reason;
}

/**
 * Returns the dead letter's reason for an event that was not accepted. It omits the given value, which the payload
 * contains: the same fault in two payloads then has the same reason, by which dead letters are grouped.
 *
 * @param details those of a fault
 */
export function mappingError({ message, details }: { message: string; details?: unknown }): string {
  const { field, expected } = (details ?? {}) as Record<string, unknown>;
  const known = typeof field === "string" && typeof expected === "string";
  return `mapping error: ${known ? expectation(field || "The event", expected) : message}`;
}

/** Returns the dead letter's reason for an error thrown by a mapping. */
export function thrownMappingError(err: unknown): string {
  const { message, data } = err as Error & { data?: unknown };
  return mappingError({ message, details: data });
}
