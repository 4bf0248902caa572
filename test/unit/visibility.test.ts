import { expect, test } from "@jest/globals";
import {
  type Access,
  agentAccess,
  mayRead,
  personAccess,
  type Scoped,
  visibleTo,
} from "../../lib/access/visibility.ts";

const rows: Record<string, Scoped> = {
  own: { scope: "agent", agent_id: "ag_1", team_id: null },
  "own in its team": { scope: "team", agent_id: "ag_1", team_id: "team_a" },
  "own in another team": { scope: "team", agent_id: "ag_1", team_id: "team_b" },
  "a colleague's": { scope: "agent", agent_id: "ag_2", team_id: null },
  "the team's": { scope: "team", agent_id: "ag_2", team_id: "team_a" },
  "another team's": { scope: "team", agent_id: "ag_3", team_id: "team_b" },
  "a person's in the team": { scope: "team", agent_id: null, team_id: "team_a" },
  "the institution's": { scope: "institutional", agent_id: "ag_3", team_id: null },
};
const own = ["own", "own in its team", "own in another team"];
const team = ["the team's", "a person's in the team"];

test.each([
  ["an agent in a team", agentAccess({ id: "ag_1", team_id: "team_a" }), [...own, ...team]],
  ["an agent without a team", agentAccess({ id: "ag_1", team_id: null }), own],
  ["a member without agents", personAccess([], []), []],
  ["a member", personAccess([{ id: "ag_1", team_id: "team_a" }], []), [...own, ...team]],
  [
    "an org admin",
    personAccess([], ["team_a", "team_b"]),
    ["own in its team", "own in another team", ...team, "another team's"],
  ],
])("%s reads what is theirs, their teams' and the institution's", (_, access, expected) => {
  const readable = Object.keys(rows).filter((name) => mayRead(access, rows[name] as Scoped));
  expect(readable.sort()).toEqual([...expected, "the institution's"].sort());
  expect(
    Object.keys(rows)
      .filter((name) => isListed(access, rows[name] as Scoped))
      .sort(),
  ).toEqual(readable);
});

/** Whether the filter for the store matches a row. */
function isListed(access: Access, row: Scoped): boolean {
  return visibleTo(access).$or.some((conditions) =>
    Object.entries(conditions).every(([field, wanted]) => {
      const value = row[field as keyof Scoped];
      return typeof wanted === "string" ? value === wanted : wanted.$in.some((one: string) => one === value);
    }),
  );
}
