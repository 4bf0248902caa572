import { expect, test } from "@jest/globals";
import { groupByReason } from "../../packages/client/attention.ts";
import { duration } from "../../packages/client/cli/table.ts";
import type { Agent } from "../../packages/client/index.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3600;

interface Given {
  state: NonNullable<Agent["delivery"]>["state"];
  /** Hours ago. */
  seen?: number;
  oldest?: number;
}

const agents = (count: number, { state, seen, oldest }: Given): Agent[] =>
  Array.from({ length: count }, (_, i) => {
    const last_seen_at = seen === undefined ? null : new Date(NOW - (seen + i) * HOUR * 1000).toISOString();
    const oldest_age_seconds = oldest === undefined ? null : oldest * HOUR;
    return { id: `${state} ${i}`, delivery: { state, last_seen_at, oldest_age_seconds } } as Agent;
  });

const linesOf = (given: Agent[]) =>
  groupByReason(given, duration, NOW).map(({ agents: same, summary }) => [same.length, summary]);

test.each<[Given, string]>([
  [{ state: "stuck", seen: 5, oldest: 4 }, "have not been seen for 5 h"],
  [{ state: "stuck", oldest: 4 }, "have never been seen"],
  [{ state: "stuck", seen: 0, oldest: 4 }, "acknowledge nothing"],
  [{ state: "unreachable" }, "cannot be reached"],
  [{ state: "failing" }, "have new dead letters"],
  [{ state: "behind" }, "are behind"],
  [{ state: "unsubscribed" }, "have no interests"],
  [{ state: "unmatched" }, "have an interest without a match"],
])("three agents that are %j are shown one by one, four in a line", (given, summary) => {
  expect(linesOf(agents(3, given))).toEqual([
    [1, null],
    [1, null],
    [1, null],
  ]);
  expect(linesOf(agents(4, given))).toEqual([[4, summary]]);
});

test("the worst stay first, each for its own reason", () => {
  const given = [
    ...agents(1, { state: "unreachable" }),
    ...agents(4, { state: "stuck", seen: 30, oldest: 4 }),
    ...agents(2, { state: "stuck", seen: 1, oldest: 4 }),
    ...agents(5, { state: "failing" }),
  ];
  expect(linesOf(given)).toEqual([
    [1, null],
    [4, "have not been seen for 1 d"],
    [1, null],
    [1, null],
    [5, "have new dead letters"],
  ]);
  expect(groupByReason(given, duration, NOW).flatMap((each) => each.agents)).toEqual(given);
});
