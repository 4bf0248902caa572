import { Type } from "typebox";
import { component, nullable, operation } from "../../../lib/contract/contract.ts";
import { Description, Id, Name, page, Timestamp } from "../../../lib/contract/schema.ts";

export const Team = component("Team", {
  id: Id("team"),
  tenant_id: Id("tn"),
  name: Name,
  description: nullable(Description),
  created_at: Timestamp,
});

const access = { by: "any", scope: "admin" } as const;

export const createTeam = operation({
  action: "teams.create",
  route: "POST /teams",
  summary: "Create a team",
  access,
  body: { name: Name, description: Type.Optional(nullable(Description)) },
  results: { 201: Team },
  errors: ["conflict"],
});

export const listTeams = operation({
  action: "teams.list",
  route: "GET /teams",
  summary: "List teams by name",
  access,
  query: page,
  answer: Type.Object({ teams: Type.Array(Team), total: Type.Integer() }),
});

export const deleteTeam = operation({
  action: "teams.delete",
  route: "DELETE /teams/{team_id}",
  summary: "Delete a team",
  description:
    "Its agents leave it and are not deleted. Content that they shared with the team stays: its authors and admins " +
    "still read it, and can promote or delete it; the agents that left no longer do. The name can be used again.",
  access,
  answer: Type.Object({
    id: Id("team"),
    agents_removed: Type.Integer({ minimum: 0, description: "Agents that were in the team." }),
  }),
});
