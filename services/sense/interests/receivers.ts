import type { Subscription } from "./match-index.ts";

/** The reasons why an agent receives an event. */
export interface Receiver {
  interest_ids: string[];
  feed_ids: string[];
  /** The highest priority of its matching interests; 0 if only feeds match. */
  priority: number;
}

type MembersOf = (channelId: string) => Iterable<string>;

/** Receivers that `gather` adds between two pauses. */
const PAUSE_EVERY = 100;

/**
 * Returns the agents that receive an event, without duplicates, by their own interests and as members of channels
 * (spec: Events 2; api.md "Channels").
 */
export function receivers(matched: Iterable<Subscription>, membersOf: MembersOf): Map<string, Receiver> {
  const found = new Map<string, Receiver>();
  for (const _ of gather(found, matched, membersOf));
  return found;
}

/** Adds the result of `receivers` in parts: the caller may yield after each. */
export function* gather(
  found: Map<string, Receiver>,
  matched: Iterable<Subscription>,
  membersOf: MembersOf,
): Generator<void> {
  let added = 0;
  for (const subscription of matched) {
    if (subscription.kind === "feed") {
      for (const agent of membersOf(subscription.channel_id as string)) {
        receiver(found, agent).feed_ids.push(subscription.id);
        if (++added % PAUSE_EVERY === 0) yield;
      }
    } else {
      addInterest(receiver(found, subscription.agent_id as string), subscription);
      if (++added % PAUSE_EVERY === 0) yield;
    }
  }
}

function addInterest(receiver: Receiver, interest: Subscription): void {
  receiver.interest_ids.push(interest.id);
  receiver.priority = Math.max(receiver.priority, interest.priority);
}

function receiver(found: Map<string, Receiver>, agent: string): Receiver {
  const known = found.get(agent);
  if (known !== undefined) return known;
  const added: Receiver = { interest_ids: [], feed_ids: [], priority: 0 };
  found.set(agent, added);
  return added;
}
