import { type Client, newClient } from "./http.ts";
import { percentile } from "./stats.ts";
import { newReceiver, type Receiver, sampleEvent, type World } from "./world.ts";

/** A receiver that has an event type of its own. */
export type TypedReceiver = Receiver & { type: string };

export interface Receipts {
  /** Milliseconds from sending a publish to having the delivery. */
  p50: number;
  p99: number;
}

const RECEIVERS = 10;
/** A run that takes so much longer than it was to take has lost an event. */
const PATIENCE_MS = 60_000;

/** Ten receivers, whose event types begin with `com.example.<name>.`. */
export function typedReceivers(world: World, name: string): Promise<TypedReceiver[]> {
  return Promise.all(
    Array.from({ length: RECEIVERS }, async (_, i) => {
      const type = `com.example.${name}.r${i}`;
      return { ...(await newReceiver(world, type)), type };
    }),
  );
}

/**
 * Publishes at a steady rate, one request an event, in turn to each receiver's own event type, while every receiver
 * long-polls and acknowledges. Open loop: a slow answer does not slow the publisher down.
 */
export async function measureReceipts(
  world: World,
  receivers: TypedReceiver[],
  perSecond: number,
  seconds: number,
): Promise<Receipts> {
  const total = perSecond * seconds;
  const run = new Run(total, performance.now() + seconds * 1000 + PATIENCE_MS);
  const clients = receivers.map(({ token }) => newClient(world.server.url, token));
  const receiving = Promise.all(clients.map((client) => run.receive(client)));
  const start = performance.now();
  for (let n = 0; n < total; n++) {
    const due = start + (n * 1000) / perSecond;
    while (performance.now() < due) await new Promise((next) => setTimeout(next, 1));
    run.publish(world.client, (receivers[n % receivers.length] as TypedReceiver).type);
  }
  await receiving;
  for (const client of clients) client.close();
  return { p50: percentile(run.times, 0.5), p99: percentile(run.times, 0.99) };
}

interface Page {
  deliveries: { id: string; payload: { id: string } }[];
}

class Run {
  readonly times: number[] = [];
  readonly #name = `r${Date.now().toString(36)}`;
  readonly #sent = new Map<string, number>();
  readonly #total: number;
  readonly #deadline: number;
  #published = 0;

  constructor(total: number, deadline: number) {
    this.#total = total;
    this.#deadline = deadline;
  }

  publish(client: Client, type: string): void {
    const event = sampleEvent(`${this.#name}-${this.#published++}`, type);
    this.#sent.set(event.id, performance.now());
    void client.send("POST", "/events", event);
  }

  async receive(client: Client): Promise<void> {
    while (this.times.length < this.#total) {
      const { deliveries }: Page = await client.send("GET", "/delivery/poll?limit=100&wait=1");
      const now = performance.now();
      for (const { payload } of deliveries) this.#received(payload.id, now);
      // Not awaited: a receiver that acknowledges in the background is back in its poll at once.
      if (deliveries.length)
        void client.send("POST", "/delivery/ack", { delivery_ids: deliveries.map(({ id }) => id) });
      if (now > this.#deadline) throw new Error(`${this.#total - this.times.length} events never arrived`);
    }
  }

  #received(id: string, now: number): void {
    const at = this.#sent.get(id);
    if (at !== undefined) this.times.push(now - at);
    this.#sent.delete(id);
  }
}
