import type { Static } from "typebox";
import type { AgentState, DeliveryHealth } from "../../identity/agents/agents.contract.ts";
import type { Explanation } from "../interests/explain.ts";
import type { AgentDelivery, REASONS } from "./agent-deliveries.contract.ts";
import { UNSUBSCRIBED } from "./health/health-state.ts";

interface Reason {
  reason: (typeof REASONS)[number];
  text: string;
}

/** The event's delivery as callers see it. */
type Delivery = Static<typeof AgentDelivery>;

/** Returns why an agent receives an event, or nothing: what applies, the most important first. */
export function reasonsOf(
  agent: AgentState,
  explanation: Explanation,
  delivery: Delivery | null,
  health: DeliveryHealth,
): Reason[] {
  const reasons: Reason[] = [];
  const add = (reason: Reason["reason"], text: string) => reasons.push({ reason, text });
  if (agent.status === "inactive")
    add("inactive", "The agent is inactive: no new event matches it. Activate it.");
  const { subscriptions, event } = explanation;
  if (subscriptions.length === 0) add("unsubscribed", UNSUBSCRIBED);
  if (!event) add("no_event", "The organisation has no event yet: nothing was published.");
  else if (delivery) reasons.push(ofDelivery(delivery, agent, health));
  else if (subscriptions.length > 0) reasons.push(...withoutDelivery(explanation));
  const suspended = subscriptions.filter(({ reason }) => reason === "suspended");
  for (const { id, kind } of suspended)
    add("suspended", `The ${kind} ${id} is suspended: its filter or glob takes too long. Simplify it.`);
  if (health.reason && health.state !== "ok" && health.state !== "unsubscribed") add("health", health.reason);
  return reasons;
}

function ofDelivery(
  delivery: Delivery,
  { delivery_mode, max_in_flight, max_per_minute }: AgentState,
  { limited_by }: Pick<DeliveryHealth, "limited_by">,
): Reason {
  const { status, attempt_count: attempts, next_attempt_at, last_error } = delivery;
  const error = last_error ? ` Last error: ${last_error.reason}.` : "";
  const after = `after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  if (status === "ready" && limited_by !== null) {
    const why = {
      max_in_flight: `the agent has its limit of deliveries in flight (\`max_in_flight\`: ${max_in_flight})`,
      max_per_minute: `the agent reached its limit of the last minute (\`max_per_minute\`: ${max_per_minute})`,
    };
    return { reason: "limited", text: `The delivery is ready, and waits: ${why[limited_by]}.` };
  }
  if (status === "ready") {
    const how = { poll: "poll", sse: "open stream", push: "push" }[delivery_mode];
    return { reason: "pending", text: `The delivery is ready, and waits for the agent's next ${how}.` };
  }
  if (status === "in_flight")
    return {
      reason: status,
      text: `The delivery is leased until ${next_attempt_at}, and not acknowledged yet.`,
    };
  if (status === "waiting" && next_attempt_at === null)
    return { reason: "held", text: "The delivery is held until an earlier one of its key is settled." };
  if (status === "waiting")
    return { reason: status, text: `The delivery will be retried at ${next_attempt_at}, ${after}.${error}` };
  if (status === "acknowledged") return { reason: status, text: `The delivery was acknowledged ${after}.` };
  if (status === "dead")
    return {
      reason: status,
      text: `The delivery is a dead letter ${after}.${error} Fix the cause, then replay it.`,
    };
  return { reason: "discarded", text: "The delivery was discarded: it is not delivered again." };
}

const UNFINISHED: Record<string, string> = {
  accepted: "is not matched yet. Ask again",
  waiting: "waits for its `notbefore`",
  parked: "is parked, because its matching failed. Retry it",
};

function withoutDelivery({ event_state, is_excluded, subscriptions }: Explanation): Reason[] {
  if (event_state !== "matched") {
    const why = UNFINISHED[event_state ?? ""] ?? "is not kept any more";
    return [{ reason: "not_matched_yet", text: `The event ${why}.` }];
  }
  if (is_excluded) return [{ reason: "excluded", text: "The agent is not in the event's audience." }];
  const later = subscriptions.filter(({ reason }) => reason === "later");
  if (later.length > 0)
    return later.map(({ id, kind }) => ({
      reason: "later",
      text: `The ${kind} ${id} matches, but was created or changed after the event was published.`,
    }));
  if (subscriptions.some(({ reason }) => reason === "match"))
    return [
      {
        reason: "not_delivered",
        text: "A subscription matches, but there is no delivery: the agent was inactive then, or the delivery is not kept any more.",
      },
    ];
  if (subscriptions.every(({ reason }) => reason === "suspended")) return [];
  return [
    { reason: "no_match", text: "No interest of the agent and no feed of its channels matches the event." },
  ];
}
