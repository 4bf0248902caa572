import { expect, test } from "@jest/globals";
import { type HealthFacts, needsAttention, stateOf } from "../../services/sense/deliveries/health/health.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const FINE: HealthFacts = {
  ...{ active: true, late_ms: 5 * MINUTE, unreachable: null, push_stopped: false, oldest_at: null },
  ...{ acknowledged_at: NOW - HOUR, dead_at: null, seen_at: NOW - MINUTE, lacking: null },
};
const health = (facts: Partial<HealthFacts>) => stateOf({ ...FINE, ...facts }, NOW);

const down = { since: NOW - 2 * HOUR, error: "connect ECONNREFUSED" };
const late = { oldest_at: NOW - 2 * HOUR };

test.each<[string, Partial<HealthFacts>, string, string | null]>([
  ["has nothing to do", {}, "ok", null],
  ["has something to do for a moment", { oldest_at: NOW - MINUTE }, "ok", null],
  [
    "acknowledges nothing while a delivery is late",
    late,
    "stuck",
    "The oldest pending delivery is 2 h old, and nothing was acknowledged for 1 h.",
  ],
  [
    "never acknowledged anything",
    { ...late, acknowledged_at: null },
    "stuck",
    "The oldest pending delivery is 2 h old, and nothing was acknowledged since.",
  ],
  [
    "acknowledges, but not fast enough",
    { ...late, acknowledged_at: NOW - MINUTE },
    "behind",
    "The oldest pending delivery is 2 h old.",
  ],
  ["may take longer by its own settings", { ...late, late_ms: 3 * HOUR }, "ok", null],
  ["has a new dead letter", { dead_at: NOW - 3 * HOUR }, "failing", "The last dead letter arrived 3 h ago."],
  ["has an old dead letter", { dead_at: NOW - 25 * HOUR }, "ok", null],
  [
    "cannot be reached",
    { unreachable: down, ...late },
    "unreachable",
    "The endpoint has not been reached for 2 h: connect ECONNREFUSED",
  ],
  [
    "has an endpoint that is gone",
    { push_stopped: true, unreachable: down },
    "unreachable",
    "The endpoint answered 410 Gone, so pushing stopped.",
  ],
  ["was not seen for days", { seen_at: NOW - 72 * HOUR }, "quiet", "Not seen for 3 d."],
  [
    "has no interests",
    { lacking: { event_type: null, since: null }, seen_at: null },
    "unsubscribed",
    "The agent has no interests, and is in no channel with feeds: no event reaches it. Add an interest.",
  ],
  [
    "has an interest that never matched",
    { lacking: { event_type: "com.*", since: NOW - 2 * HOUR } },
    "unmatched",
    "The interest in com.* has matched no event for 2 h.",
  ],
  ["was never seen", { seen_at: null }, "quiet", "Not seen yet."],
  ["is inactive, whatever waits for it", { active: false, ...late, unreachable: down }, "ok", null],
])("an agent that %s", (_, facts, state, reason) => expect(health(facts)).toEqual({ state, reason }));

test("the worst state that applies is shown", () => {
  const failing = { dead_at: NOW - MINUTE };
  expect(health({ ...late, ...failing }).state).toBe("stuck");
  expect(health({ ...late, ...failing, acknowledged_at: NOW - MINUTE }).state).toBe("failing");
});

test("a quiet agent needs no attention", () => {
  const others = ["unmatched", "unsubscribed", "behind", "failing", "stuck", "unreachable"] as const;
  expect((["ok", "quiet", ...others] as const).filter(needsAttention)).toEqual(others);
});
