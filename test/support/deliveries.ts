import { type Api, agentToken, api, type Json } from "./http.ts";
import { type ServerOptions, startServer, type TestServer } from "./server.ts";
import { settle } from "./settle.ts";
import { startShared } from "./shared.ts";
import { ok } from "./tenancy.ts";
import { use } from "./use.ts";

export interface Ground {
  server: TestServer;
  /** The tenant's first agent, with the scope `admin`. */
  admin: Api;
  publish(type: string, data?: unknown, more?: object): Promise<string>;
}

/** A shared server, or with options a new one without rate limits and vectors; its admin, and a way to publish. */
export async function deliveryGround(options: ServerOptions | "none" | "open" = "none"): Promise<Ground> {
  const server =
    typeof options === "string"
      ? await startShared(options)
      : await startServer({
          ...options,
          env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", ...options.env },
        });
  return { server, ...(await onGround(server)) };
}

/** As `deliveryGround`, for the whole test file. */
export async function useGround(options?: ServerOptions | "none" | "open"): Promise<Ground> {
  const ground = await deliveryGround(options);
  use(ground.server);
  return ground;
}

/** As `deliveryGround`, on a server that runs, with new tokens. */
export async function onGround(server: TestServer): Promise<Omit<Ground, "server">> {
  const admin = api(server, await agentToken(server, server.credentials.agent.api_key));
  let count = 0;
  const run = Math.random().toString(36).slice(2);
  const publish = async (type: string, data: unknown = {}, more: object = {}) => {
    const event = { specversion: "1.0", type, source: "urn:test", id: `${run}-${++count}`, data, ...more };
    return ok(await admin.post("/events", event)).event_id as string;
  };
  return { admin, publish };
}

type Polled = Json[];

/** Waits until there are deliveries, which are written some time after their event is accepted; claims one or more. */
export async function pollSome(receiver: Api, query = ""): Promise<Polled> {
  const waiting = query.includes("wait=") ? query : `wait=30&${query}`;
  const some = async () => {
    const found = await pollNow(receiver, waiting);
    return found.length > 0 && found;
  };
  return settle(some, { what: "deliveries" });
}

/** The same until there are so many. */
export async function pollMany(receiver: Api, count: number, query = ""): Promise<Polled> {
  const all: Polled = [];
  while (all.length < count) all.push(...(await pollSome(receiver, query)));
  return all;
}

/** One poll, which does not wait: for what must not come, and what is known to be ready. */
export async function pollNow(receiver: Api, query = ""): Promise<Polled> {
  return ok(await receiver.get(`/delivery/poll?${query}`)).deliveries;
}
