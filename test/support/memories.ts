import { firstAgent, newAgent, type TestAgent } from "./agents.ts";
import { type Api, api, type Json } from "./http.ts";
import type { TestServer } from "./server.ts";
import { ok, signIn } from "./tenancy.ts";

/** Those who remember in the tests of memories: two teams, people, and an agent without a team. */
export interface Cast {
  /** The first agent: scope `admin`, no team. */
  admin: TestAgent;
  /** Two agents of team A. */
  alice: TestAgent;
  bob: TestAgent;
  /** Of team B. */
  carol: TestAgent;
  teamA: string;
  teamB: string;
  orgAdmin: Api;
  /** A person who owns Alice. */
  owner: Api;
  /** A person who owns nobody. */
  member: Api;
}

const SCOPES = ["memory:read", "memory:write"];

export async function makeCast(server: TestServer): Promise<Cast> {
  const admin = await firstAgent(server);
  const { admin: founder, tenant_slug } = server.credentials;
  const orgAdmin = api(server, await signIn(server, founder, tenant_slug));
  const person = async (email: string) => {
    const invited = ok(await orgAdmin.post("/users", { email }));
    return { id: invited.id as string, api: api(server, await signIn(server, invited, tenant_slug)) };
  };
  const [owner, member] = [await person("owner@cast.example"), await person("member@cast.example")];
  const team = async (name: string): Promise<string> => ok(await orgAdmin.post("/teams", { name })).id;
  const [teamA, teamB] = [await team("A"), await team("B")];
  const agent = (name: string, team_id: string, owner_user_id?: string) =>
    agentIn(server, admin, { name, team_id, ...(owner_user_id && { owner_user_id }) });
  const alice = await agent("alice", teamA, owner.id);
  const bob = await agent("bob", teamA);
  const carol = await agent("carol", teamB);
  return { admin, alice, bob, carol, teamA, teamB, orgAdmin, owner: owner.api, member: member.api };
}

/** An agent with these settings that may remember, and what else its scopes allow. */
export const agentIn = (server: TestServer, admin: Api, settings: object, scopes = SCOPES) =>
  newAgent(server, admin, scopes, settings);

/** Returns a minimal body of `POST /memories`, with the given fields. */
export function memory(more: Record<string, unknown> = {}) {
  return { title: "A title", content: "Some content", type: "semantic", scope: "agent", ...more };
}

/** Remembers, and gives the memory. */
export async function remember(who: Api, more: Record<string, unknown> = {}): Promise<Json> {
  return ok(await who.post("/memories", memory(more)));
}
