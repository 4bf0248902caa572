import { agentToken, api } from "../../test/support/http.ts";
import type { TestServer } from "../../test/support/server.ts";
import { type Client, newClient } from "../lib/http.ts";

export const OPERATOR_TOKEN = "the-operator-token-of-the-benchmark";

/** A tenant with its clients. */
export interface Tenant {
  url: string;
  slug: string;
  /** An agent with all scopes, for preparations. */
  admin: Client;
  /** Agents with the scopes of a shipped key; each has its own rate limit. */
  agents: { id: string; client: Client }[];
  /** A person: some operations are for people only. */
  person: Client;
  close(): void;
}

/** Creates a tenant with `agents` agents. */
export async function newTenant(server: TestServer, slug: string, agentCount: number): Promise<Tenant> {
  const operator = newClient(server.url, OPERATOR_TOKEN);
  const made = await operator.send("POST", "/tenants", {
    slug,
    name: slug,
    admin_email: `admin@${slug}.example`,
  });
  const admin = newClient(server.url, await agentToken(server, made.agent.api_key));
  const { email, password } = made.admin;
  const { body } = await api(server).post("/auth/login", { email, password, tenant_slug: slug });
  const person = newClient(server.url, body.access_token);
  const agents: Tenant["agents"] = [];
  for (let i = 0; i < agentCount; i++) {
    const { id } = await person.send("POST", "/agents", { name: `${slug} ${i}`, delivery_mode: "poll" });
    const scopes = ["send", "receive", "memory:read", "memory:write"];
    const { key } = await person.send("POST", `/agents/${id}/keys`, { scopes });
    agents.push({ id, client: newClient(server.url, await agentToken(server, key)) });
  }
  const close = () => {
    for (const client of [operator, admin, person, ...agents.map(({ client }) => client)]) client.close();
  };
  return { url: server.url, slug, admin, agents, person, close };
}
