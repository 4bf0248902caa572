import type { Subscription } from "./subscription.ts";

/** Why an agent receives an event. */
export interface Reasons {
  interest_ids: string[];
  feed_ids: string[];
  /** The highest priority of its matching interests; 0 if only feeds match. */
  priority: number;
}

type MembersOf = (channelId: string) => Iterable<string>;

/** Receivers that `gatherInSteps` adds between two pauses. */
const PAUSE_EVERY = 100;

/**
 * Adds the agents that receive an event, without duplicates, by their own interests and as members of channels (spec:
 * Events 2; api.md "Channels"), in parts: the caller may yield after each.
 */
export function* gatherInSteps(
  found: Map<string, Reasons>,
  matched: Iterable<Subscription>,
  membersOf: MembersOf,
): Generator<void> {
  let added = 0;
  for (const subscription of matched) {
    if (subscription.kind === "wait") continue;
    if (subscription.kind === "feed") {
      for (const agent of membersOf(subscription.channel_id as string)) {
        reasonsOf(found, agent).feed_ids.push(subscription.id);
        if (++added % PAUSE_EVERY === 0) yield;
      }
    } else {
      addInterest(reasonsOf(found, subscription.agent_id as string), subscription);
      if (++added % PAUSE_EVERY === 0) yield;
    }
  }
}

function addInterest(reasons: Reasons, interest: Subscription): void {
  reasons.interest_ids.push(interest.id);
  reasons.priority = Math.max(reasons.priority, interest.priority);
}

function reasonsOf(found: Map<string, Reasons>, agent: string): Reasons {
  const known = found.get(agent);
  if (known !== undefined) return known;
  const added: Reasons = { interest_ids: [], feed_ids: [], priority: 0 };
  found.set(agent, added);
  return added;
}
