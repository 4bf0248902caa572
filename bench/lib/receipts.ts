import { Agent, request } from "node:http";
import { percentile } from "./stats.ts";
import { type Receiver, sampleEvent, type World } from "./world.ts";

export interface Receipts {
  /** Milliseconds from sending a publish to having the delivery. */
  p50: number;
  p99: number;
  count: number;
}

/**
 * Publishes at a steady rate, one request an event, in turn to each receiver's own event type, while every receiver
 * long-polls and acknowledges. Open loop: a slow answer does not slow the publisher down.
 */
export async function measureReceipts(
  world: World,
  receivers: (Receiver & { type: string })[],
  perSecond: number,
  seconds: number,
): Promise<Receipts> {
  const http = new Agent({ keepAlive: true, maxSockets: 256 });
  const sent = new Map<string, number>();
  const times: number[] = [];
  const total = perSecond * seconds;
  const run = `r${Date.now().toString(36)}`;
  const send = (path: string, token: string, method: string, body?: unknown) =>
    call(http, world.server.url + path, token, method, body);

  const receive = async (receiver: Receiver) => {
    while (times.length < total) {
      const { deliveries } = (await send("/delivery/poll?limit=100&wait=1", receiver.token, "GET")) as Page;
      const now = performance.now();
      for (const { payload } of deliveries) {
        const at = sent.get(payload.id);
        if (at !== undefined) times.push(now - at);
        sent.delete(payload.id);
      }
      // Not awaited: a receiver that acknowledges in the background is back in its poll at once.
      if (deliveries.length)
        void send("/delivery/ack", receiver.token, "POST", { delivery_ids: ids(deliveries) });
    }
  };
  const receiving = Promise.all(receivers.map(receive));

  const start = performance.now();
  for (let n = 0; n < total; n++) {
    const due = start + (n * 1000) / perSecond;
    while (performance.now() < due) await new Promise((next) => setTimeout(next, 1));
    const { type } = receivers[n % receivers.length] as { type: string };
    const event = sampleEvent(`${run}-${n}`, type);
    sent.set(event.id, performance.now());
    void send("/events", world.token, "POST", event);
  }
  await receiving;
  http.destroy();
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), count: times.length };
}

interface Page {
  deliveries: { id: string; payload: { id: string } }[];
}

const ids = (deliveries: Page["deliveries"]) => deliveries.map(({ id }) => id);

function call(agent: Agent, url: string, token: string, method: string, body?: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body) headers["content-type"] = "application/json";
    const req = request(url, { agent, method, headers }, (res) => {
      let text = "";
      res.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      res.on("end", () => {
        if ((res.statusCode as number) < 300) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${url}: ${res.statusCode} ${text}`));
      });
    });
    req.on("error", reject);
    req.end(body ? JSON.stringify(body) : undefined);
  });
}
