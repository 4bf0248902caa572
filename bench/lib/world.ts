import { type Api, agentToken, api } from "../../test/support/http.ts";
import { startServer, type TestServer } from "../../test/support/server.ts";
import { settle } from "../../test/support/settle.ts";
import { signIn } from "../../test/support/tenancy.ts";
import { BATCH_TYPE, type Client, newClient } from "./http.ts";

/** A server to measure, without rate limits, and the token of its admin agent. */
export interface World {
  server: TestServer;
  token: string;
  admin: Api;
  /** The same caller by a cheaper client, for frequent or measured requests. */
  client: Client;
  /** A person who is an admin: creates interests for other agents. */
  person: Client;
  /** The number of accepted events, and of those with all their deliveries. */
  counts(): Promise<{ accepted: number; fannedOut: number }>;
  stop(): Promise<void>;
}

export async function newWorld(env: Record<string, string> = {}): Promise<World> {
  const server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", LOG_LEVEL: "warn", ...env } });
  const token = await agentToken(server, server.credentials.agent.api_key);
  const client = newClient(server.url, token);
  const { admin: founder, tenant_slug } = server.credentials;
  const person = newClient(server.url, await signIn(server, founder, tenant_slug));
  const stop = () => {
    client.close();
    person.close();
    return server.stop();
  };
  return { server, token, admin: api(server, token), client, person, counts: () => counts(server), stop };
}

// The store's statistics are too coarse: they are of rows, and rarely refreshed for large tables.
async function counts({ root }: TestServer): Promise<{ accepted: number; fannedOut: number }> {
  const text = await (await fetch(`${root}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^sensorium_${name}_total (\\d+)`, "m").exec(text)?.[1]);
  return { accepted: value("events_accepted"), fannedOut: value("events_fanned_out") };
}

/** Waits until every accepted event has all its deliveries. */
export function fannedOut({ counts }: World): Promise<unknown> {
  const done = async () => {
    const { accepted, fannedOut } = await counts();
    return accepted === fannedOut;
  };
  return settle(done, { within: 120_000, what: "the fan-out of every accepted event" });
}

const PER_BATCH = 100;

/** Publishes `count` events of a type in batches of 100, and waits for their fan-out. Ids start with `name`. */
export async function publishMany(world: World, type: string, count: number, name: string): Promise<void> {
  await inParallel(count / PER_BATCH, 6, async (batch) => {
    const events = Array.from({ length: PER_BATCH }, (_, i) => sampleEvent(`${name}-${batch}-${i}`, type));
    const results: { status: string }[] = await world.client.send("POST", "/events", events, BATCH_TYPE);
    if (results.some(({ status }) => status !== "accepted"))
      throw new Error(`not every event was accepted: ${JSON.stringify(results[0])}`);
  });
  await fannedOut(world);
}

export interface Receiver {
  id: string;
  token: string;
  api: Api;
}

/**
 * Creates an agent that polls, with one interest.
 *
 * @param interest its further fields; null: the agent is in a channel with a feed instead
 */
export async function newReceiver(
  world: World,
  event_type: string,
  interest: object | null = {},
): Promise<Receiver> {
  const id = await newAgent(world, event_type, interest);
  const { key } = await created(world.admin.post(`/agents/${id}/keys`, { scopes: ["receive"] }));
  const token = await agentToken(world.server, key);
  return { id, token, api: api(world.server, token) };
}

/** Creates an agent without a key. */
async function newAgent({ admin, person }: World, event_type: string, interest: object | null) {
  const { id } = await created(admin.post("/agents", { name: event_type, delivery_mode: "poll" }));
  if (interest) {
    await person.send("POST", `/agents/${id}/interests`, { event_type, ...interest });
    return id;
  }
  const channel = await person.send("POST", "/channels", { name: event_type });
  await person.send("POST", `/channels/${channel.id}/feeds`, { event_type_glob: event_type });
  await person.send("POST", `/channels/${channel.id}/members`, { agent_id: id });
  return id;
}

/** Returns the body. Throws on failure: a benchmark on half its data would mislead. */
async function created(answer: ReturnType<Api["post"]>): Promise<{ id: string; key: string }> {
  const { status, body } = await answer;
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
  return body;
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
