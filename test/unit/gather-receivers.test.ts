import { expect, test } from "@jest/globals";
import type { Subscription } from "../../services/sense/interests/receiver.ts";
import { gatherInSteps, type Reasons } from "../../services/sense/interests/routing-table.ts";

const interest = (id: string, agent_id: string, priority: number): Subscription => ({
  ...{ id, kind: "interest", agent_id, glob: "*", priority },
});
const feed = (id: string, channel_id: string): Subscription => ({
  ...{ id, kind: "feed", channel_id, glob: "*", priority: 0 },
});
const members: Record<string, string[]> = { ch_1: ["ag_1", "ag_2"], ch_2: ["ag_2", "ag_3"], ch_empty: [] };
const membersOf = (channel: string) => members[channel] ?? [];

function gather(matched: Subscription[]): Map<string, Reasons> {
  const found = new Map<string, Reasons>();
  for (const _ of gatherInSteps(found, matched, membersOf));
  return found;
}

test("every agent once, with all the reasons and the highest priority", () => {
  const matched = [
    ...[interest("int_1", "ag_1", 3), interest("int_2", "ag_1", 7), interest("int_3", "ag_4", 0)],
    ...[feed("feed_1", "ch_1"), feed("feed_2", "ch_2"), feed("feed_3", "ch_empty")],
  ];
  expect(Object.fromEntries(gather(matched))).toEqual({
    ag_1: { interest_ids: ["int_1", "int_2"], feed_ids: ["feed_1"], priority: 7 },
    ag_2: { interest_ids: [], feed_ids: ["feed_1", "feed_2"], priority: 0 },
    ag_3: { interest_ids: [], feed_ids: ["feed_2"], priority: 0 },
    ag_4: { interest_ids: ["int_3"], feed_ids: [], priority: 0 },
  });
});

test("no match, no receivers", () => expect(gather([]).size).toBe(0));
