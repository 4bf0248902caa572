import { type Api, agentToken, api, type Json } from "./http.ts";
import type { TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { ok } from "./tenancy.ts";

/** An agent that speaks for itself. */
export type TestAgent = Api & { id: string; token: string };

/** The agent of the first start, with all scopes. */
export async function firstAgent(server: TestServer): Promise<TestAgent> {
  const { id, api_key } = server.credentials.agent;
  const token = await agentToken(server, api_key);
  return { id, token, ...api(server, token) };
}

const SCOPES = ["send", "receive", "channel:read", "channel:write"];

/** A new agent with a key of these scopes, and settings besides its name. */
export async function newAgent(
  server: Pick<TestServer, "url">,
  admin: Api,
  scopes = SCOPES,
  settings: object = {},
): Promise<TestAgent> {
  const { id } = ok(await admin.post("/agents", { name: "tester", delivery_mode: "poll", ...settings }));
  return withKey(server, admin, id, scopes);
}

/** An agent as it speaks with a new key: those of before a deactivation stay refused. */
export async function withKey(
  server: Pick<TestServer, "url">,
  admin: Api,
  id: string,
  scopes: string[],
): Promise<TestAgent> {
  const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes }));
  const token = await agentToken(server, key);
  return { id, token, ...api(server, token) };
}

/** A new agent that receives events of a type. */
export async function newReceiver(server: TestServer, admin: Api, event_type: string, more: object = {}) {
  const agent = await newAgent(server, admin);
  ok(await agent.post(`/agents/${agent.id}/interests`, { event_type, ...more }));
  return agent;
}

/** A CloudEvent that nothing but what is given sets apart. */
export function cloudEvent(id: string, more: Record<string, unknown> = {}) {
  return { specversion: "1.0", id, source: "urn:test", type: "com.example.thing", data: { n: 1 }, ...more };
}

/** Polls until there are `count` deliveries (once for none), acknowledges them, and gives them in order of arrival. */
export async function receive(agent: Pick<Api, "get" | "post">, count: number): Promise<Json[]> {
  const all: Json[] = [];
  await settle(
    async () => {
      const { deliveries } = ok(await agent.get("/delivery/poll?wait=1"));
      all.push(...deliveries);
      const delivery_ids = deliveries.map((delivery: { id: string }) => delivery.id);
      if (delivery_ids.length) ok(await agent.post("/delivery/ack", { delivery_ids }));
      return all.length >= count;
    },
    { what: `${count} deliveries` },
  );
  return all;
}

/** Resolves when the event has been fanned out, with its page. */
export function fannedOut(admin: Api, event_id: string): Promise<Json> {
  return settle(async () => {
    const { body } = await admin.get(`/events/${event_id}`);
    return body.state === "matched" && body;
  });
}
