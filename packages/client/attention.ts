import type { Agent } from "./generated/types.ts";

type Reason = NonNullable<Agent["delivery"]>["state"] | "unseen";

/** An agent that needs attention, or several for the same reason. */
export interface InNeed {
  agents: Agent[];
  /** The text after "12 agents"; null for an agent alone. */
  summary: string | null;
}

/** Agents with the same reason that are still shown one by one. */
const MOST_ALONE = 3;

const SUMMARIES: Partial<Record<Reason, string>> = {
  unreachable: "cannot be reached",
  stuck: "acknowledge nothing",
  failing: "have new dead letters",
  behind: "are behind",
  unsubscribed: "have no interests",
  unmatched: "have an interest without a match",
};

/**
 * Returns agents in their order, with one line for those that have the same reason if they are more than three.
 *
 * @param duration formats seconds
 */
export function groupByReason(
  agents: readonly Agent[],
  duration: (seconds: number) => string,
  now = Date.now(),
): InNeed[] {
  const byReason = new Map<Reason, Agent[]>();
  for (const agent of agents) {
    const reason = reasonOf(agent, now);
    byReason.set(reason, [...(byReason.get(reason) ?? []), agent]);
  }
  return [...byReason].flatMap(([reason, same]): InNeed[] => {
    if (same.length <= MOST_ALONE) return same.map((agent) => ({ agents: [agent], summary: null }));
    const summary =
      reason === "unseen" ? unseen(same, duration, now) : (SUMMARIES[reason] ?? `are ${reason}`);
    return [{ agents: same, summary }];
  });
}

const seenAt = ({ delivery }: Agent): number[] =>
  delivery?.last_seen_at ? [Date.parse(delivery.last_seen_at)] : [];

/** Distinguishes stuck agents that were not seen since their oldest delivery from those that take and keep them. */
function reasonOf(agent: Agent, now: number): Reason {
  const { state = "ok", oldest_age_seconds = null } = agent.delivery ?? {};
  if (state !== "stuck" || oldest_age_seconds === null) return state;
  return seenAt(agent).some((at) => at > now - oldest_age_seconds * 1000) ? "stuck" : "unseen";
}

function unseen(agents: readonly Agent[], duration: (seconds: number) => string, now: number): string {
  const seen = agents.flatMap(seenAt);
  if (seen.length === 0) return "have never been seen";
  return `have not been seen for ${duration(Math.max(0, now - Math.max(...seen)) / 1000)}`;
}
