import { DAY_MS } from "../../../../lib/time.ts";
import {
  type DeliveryHealth,
  HEALTH_STATES,
  type HealthState,
} from "../../../identity/agents/agents.contract.ts";
import type { Lacking } from "../../interests/explain.ts";

/** Facts that decide an agent's state. Times in ms; null: never, or none. */
export interface HealthFacts {
  active: boolean;
  /** Age in ms from which a pending delivery is late. */
  late_ms: number;
  /** An active push endpoint: since when it cannot be reached, and the last error. */
  unreachable: { since: number; error: string } | null;
  /** Its endpoint answered 410 Gone. */
  push_stopped: boolean;
  oldest_at: number | null;
  acknowledged_at: number | null;
  dead_at: number | null;
  seen_at: number | null;
  /** Why it is likely to receive nothing; null if it is not. */
  lacking: Lacking | null;
}

export const UNSUBSCRIBED =
  "The agent has no interests, and is in no channel with feeds: no event reaches it. Add an interest.";

/** Returns the worst state that the facts show. An inactive agent is left alone: it is meant to receive nothing. */
export function stateOf(facts: HealthFacts, now: number): Pick<DeliveryHealth, "state" | "reason"> {
  const { active, late_ms, unreachable, push_stopped, lacking } = facts;
  const { oldest_at, acknowledged_at, dead_at, seen_at } = facts;
  const ago = (at: number) => duration(now - at);
  if (!active) return { state: "ok", reason: null };
  if (push_stopped)
    return { state: "unreachable", reason: "The endpoint answered 410 Gone, so pushing stopped." };
  if (unreachable) {
    const reason = `The endpoint has not been reached for ${ago(unreachable.since)}: ${unreachable.error}`;
    return { state: "unreachable", reason };
  }
  const late = oldest_at !== null && now - oldest_at > late_ms;
  const acknowledges = acknowledged_at !== null && now - acknowledged_at <= late_ms;
  if (late && !acknowledges) {
    const since = acknowledged_at === null ? "since" : `for ${ago(acknowledged_at)}`;
    const reason = `The oldest pending delivery is ${ago(oldest_at)} old, and nothing was acknowledged ${since}.`;
    return { state: "stuck", reason };
  }
  if (dead_at !== null && now - dead_at <= DAY_MS)
    return { state: "failing", reason: `The last dead letter arrived ${ago(dead_at)} ago.` };
  if (late) return { state: "behind", reason: `The oldest pending delivery is ${ago(oldest_at)} old.` };
  if (lacking?.event_type === null) return { state: "unsubscribed", reason: UNSUBSCRIBED };
  if (lacking) {
    const reason = `The interest in ${lacking.event_type} has matched no event for ${ago(lacking.since ?? now)}.`;
    return { state: "unmatched", reason };
  }
  if (oldest_at === null && (seen_at === null || now - seen_at > DAY_MS))
    return { state: "quiet", reason: seen_at === null ? "Not seen yet." : `Not seen for ${ago(seen_at)}.` };
  return { state: "ok", reason: null };
}

/** Whether a person should look at it. */
export const needsAttention = (state: HealthState) => severityOf(state) >= severityOf("unmatched");

export const severityOf = (state: HealthState) => HEALTH_STATES.indexOf(state);

const UNITS = [
  [DAY_MS, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

function duration(ms: number): string {
  const [size, name] = UNITS.find(([each]) => ms >= each) ?? [1000, "s"];
  return `${Math.floor(Math.max(ms, 0) / size)} ${name}`;
}
