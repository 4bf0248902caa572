import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { agentAccess, MEMORY_SCOPES, mayRead } from "../../lib/access/visibility.ts";
import { audienceIn, audienceOf, isIn } from "../../lib/cloudevents/audience.ts";

const TYPE = "service.memory.created";

test("an event about a row is for whom may read the row, and for nobody else", () => {
  const agents = fc.constantFrom("ag_1", "ag_2", "ag_3");
  const team = fc.constantFrom("team_1", "team_2", null);
  const row = fc.record({
    scope: fc.constantFrom(...MEMORY_SCOPES),
    agent_id: fc.option(agents, { nil: null }),
    team_id: team,
  });
  fc.assert(
    fc.property(row, fc.record({ id: agents, team_id: team }), (about, agent) => {
      const audience = audienceOf(about);
      const ids = audienceIn({ type: TYPE, ...(audience && { audience }) });
      expect(ids === null || isIn(ids, agent)).toBe(mayRead(agentAccess(agent), about));
    }),
  );
});

test("who sets it only the service: what a client publishes is not bound by it", () => {
  expect(audienceIn({ type: "com.example.thing", audience: "ag_1" })).toBeNull();
  expect(audienceIn({ type: "memory.cited", audience: "ag_1" })).toEqual(new Set(["ag_1"]));
});
