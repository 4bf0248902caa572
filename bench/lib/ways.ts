import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { newClient } from "./http.ts";
import { newReceiver, type World } from "./world.ts";

/** How an agent receives its deliveries. */
export const WAYS = ["poll", "SSE", "push"] as const;
/** The others acknowledge before they ask again: in a separate request, or in the same one. */
export type Way = (typeof WAYS)[number] | "poll + ack" | "poll + log" | "next";

/** Called for each event received, with the producer's id. */
type Received = (id: string) => void;

/** A receiver with its own event type. */
export interface TypedReceiver {
  type: string;
  /** Receives and acknowledges until `over` aborts. */
  receive(received: Received, over: AbortSignal): Promise<void>;
}

/** Creates an agent that receives in this way. @param interest as for `newReceiver` */
export async function newTypedReceiver(
  world: World,
  type: string,
  way: Way,
  interest: object | null = {},
): Promise<TypedReceiver> {
  const { id, token } = await newReceiver(world, type, interest);
  if (way === "push") return { type, receive: await pushed(world, id) };
  const take = { poll, "poll + ack": pollAndAcknowledge, "poll + log": pollAndLog, next, SSE: stream }[way];
  return { type, receive: (received, over) => take(world.server.url, token, received, over) };
}

interface Delivery {
  id: string;
  payload: { id: string };
}

async function poll(url: string, token: string, received: Received, over: AbortSignal): Promise<void> {
  const client = newClient(url, token);
  while (!over.aborted) {
    const page = await client.send("GET", "/delivery/poll?limit=100&wait=1");
    const deliveries: Delivery[] = page.deliveries;
    for (const { payload } of deliveries) received(payload.id);
    // Not awaited: a receiver that acknowledges in the background polls again at once.
    if (deliveries.length) void acknowledge(client, deliveries);
  }
  client.close();
}

async function pollAndAcknowledge(url: string, token: string, received: Received, over: AbortSignal) {
  const client = newClient(url, token);
  while (!over.aborted) {
    const { deliveries } = await client.send("GET", "/delivery/poll?limit=100&wait=1");
    for (const { payload } of deliveries as Delivery[]) received(payload.id);
    if (deliveries.length) await acknowledge(client, deliveries);
  }
  client.close();
}

/** Acknowledges each delivery by itself, with what its work has written. */
async function pollAndLog(url: string, token: string, received: Received, over: AbortSignal) {
  const client = newClient(url, token);
  while (!over.aborted) {
    const { deliveries } = await client.send("GET", "/delivery/poll?limit=100&wait=1");
    for (const { id, payload } of deliveries as Delivery[]) {
      received(payload.id);
      await client.send("POST", "/delivery/ack", { delivery_ids: [id], log: "order accepted\n".repeat(10) });
    }
  }
  client.close();
}

async function next(url: string, token: string, received: Received, over: AbortSignal): Promise<void> {
  const client = newClient(url, token);
  for (let delivery_ids: string[] = []; delivery_ids.length || !over.aborted; ) {
    const asked = over.aborted ? { limit: 1 } : { wait: 1 };
    const { deliveries } = await client.send("POST", "/delivery/next", { ack: { delivery_ids }, ...asked });
    for (const { payload } of deliveries as Delivery[]) received(payload.id);
    delivery_ids = (deliveries as Delivery[]).map(({ id }) => id);
  }
  client.close();
}

function acknowledge(client: ReturnType<typeof newClient>, deliveries: Delivery[]): Promise<unknown> {
  return client.send("POST", "/delivery/ack", { delivery_ids: deliveries.map(({ id }) => id) });
}

function stream(url: string, token: string, received: Received, over: AbortSignal): Promise<void> {
  const client = newClient(url, token);
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const acknowledging = new Acknowledging(client);
  return new Promise((resolve, reject) => {
    const req = request(`${url}/delivery/stream?max_in_flight=1000`, { headers }, (res) => {
      let rest = "";
      res.setEncoding("utf8").on("data", (chunk: string) => {
        const blocks = (rest + chunk).split("\n\n");
        rest = blocks.pop() as string;
        const deliveries = blocks.flatMap(deliveryIn);
        for (const { payload } of deliveries) received(payload.id);
        acknowledging.add(deliveries);
      });
    });
    req.on("error", (err) => over.aborted || reject(err));
    over.addEventListener("abort", () => {
      req.destroy();
      acknowledging.all.then(() => {
        client.close();
        resolve();
      }, reject);
    });
    req.end();
  });
}

/** Acknowledges in the background: what arrives while a request is pending goes together in the next. */
class Acknowledging {
  all: Promise<unknown> = Promise.resolve();
  readonly #client: ReturnType<typeof newClient>;
  #waiting: Delivery[] = [];

  constructor(client: ReturnType<typeof newClient>) {
    this.#client = client;
  }

  add(deliveries: Delivery[]): void {
    if (this.#waiting.length === 0 && deliveries.length) this.all = this.all.then(() => this.#send());
    this.#waiting.push(...deliveries);
  }

  async #send(): Promise<void> {
    const all = this.#waiting.splice(0);
    for (let at = 0; at < all.length; at += 100) await acknowledge(this.#client, all.slice(at, at + 100));
  }
}

function deliveryIn(block: string): Delivery[] {
  const data = /^data: ([^\r\n]*)/m.exec(block)?.[1];
  return data === undefined ? [] : [JSON.parse(data)];
}

/** One endpoint each, open as long as this process, for pushes between two measurements. */
async function pushed({ client }: World, agent_id: string): Promise<TypedReceiver["receive"]> {
  let received: Received = () => {};
  const server = await listening((body) => received(JSON.parse(body).id));
  const { port } = server.address() as AddressInfo;
  const delivery_endpoint = `http://127.0.0.1:${port}/`;
  await client.send("PATCH", `/agents/${agent_id}`, { delivery_mode: "push", delivery_endpoint });
  return (tell, over) => {
    received = tell;
    return new Promise((resolve) => over.addEventListener("abort", () => resolve()));
  };
}

function listening(onPush: (body: string) => void): Promise<Server> {
  const server = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    req.on("end", () => {
      onPush(body);
      res.writeHead(204).end();
    });
  });
  server.unref();
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
