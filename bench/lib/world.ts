import { type Api, agentToken, api } from "../../test/support/http.ts";
import { startServer, type TestServer } from "../../test/support/server.ts";

/** A server to measure, with its limits off, and the token of its admin agent. */
export interface World {
  server: TestServer;
  admin: Api;
  token: string;
}

export async function newWorld(env: Record<string, string> = {}): Promise<World> {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", LOG_LEVEL: "warn", ...env } });
  const token = await agentToken(server, server.credentials.agent.api_key);
  return { server, token, admin: api(server, token) };
}

export interface Receiver {
  id: string;
  token: string;
  api: Api;
}

/** An agent that polls, with one interest. */
export async function newReceiver(world: World, event_type: string): Promise<Receiver> {
  const id = await newAgent(world, event_type);
  const { body } = await world.admin.post(`/agents/${id}/keys`, { scopes: ["receive"] });
  const token = await agentToken(world.server, body.key);
  return { id, token, api: api(world.server, token) };
}

/** An agent without a key, with one interest. */
export async function newAgent({ admin }: World, event_type: string): Promise<string> {
  const { body } = await admin.post("/agents", { name: event_type, delivery_mode: "poll" });
  await created(admin.post(`/agents/${body.id}/interests`, { event_type }));
  return body.id;
}

/** Fails loudly: a benchmark on half its data says nothing. */
export async function created(answer: ReturnType<Api["post"]>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
}

/** Runs `count` jobs, `width` at a time. */
export async function inParallel(count: number, width: number, job: (index: number) => Promise<void>) {
  let next = 0;
  const lane = async () => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

export const EVENT_TYPE = "com.example.order.created";

/** A CloudEvent of ordinary size (about 400 bytes). */
export function sampleEvent(id: string, type = EVENT_TYPE) {
  return {
    specversion: "1.0",
    id,
    type,
    source: "https://shop.example.com/orders",
    subject: `order-${id}`,
    time: "2026-01-31T09:30:00.000Z",
    datacontenttype: "application/json",
    data: {
      order: id,
      amount: 129.5,
      currency: "EUR",
      lines: [
        { sku: "A-1", n: 2 },
        { sku: "B-7", n: 1 },
      ],
    },
  };
}
