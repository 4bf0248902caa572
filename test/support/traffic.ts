import type { Json } from "./http.ts";
import { settle } from "./settle.ts";

/** Sends a request of one agent. Rejects when it is not answered. */
export type Send = (
  method: "GET" | "POST",
  path: string,
  body?: unknown,
  type?: string,
) => Promise<{ status: number; body: Json }>;

/** An agent subscribed to a distinct event type. */
type Party = { type: string; send: Send };

/** An event on its way: when it was first sent, and when its acknowledgement was answered, in ms. */
export type Trip = { party: number; sentAt: number; acknowledgedAt: number };

const AGAIN_EVERY_MS = 50;
const PATIENCE_MS = 45_000;
const WAIT_SECONDS = 2;

/**
 * Agents that publish events to themselves, poll and acknowledge, as careful clients do: what is answered 503, or not
 * at all, is sent again.
 */
export class Traffic {
  /** Events whose acknowledgement was answered. */
  readonly trips: Trip[] = [];
  /** Events that came again after they had come once. */
  repeated = 0;
  /** Number of 429 and 503 answers and broken connections. */
  refused = 0;
  /** The longest that an answer took, less what its request was willing to wait: ms. */
  longestMs = 0;
  readonly #name: string;
  readonly #parties: Party[];
  readonly #eventOf: (id: string, type: string) => object;
  /** When each accepted event was first sent. */
  readonly #sent = new Map<string, { party: number; sentAt: number }>();
  readonly #received = new Set<string>();
  #named = 0;
  #published = 0;
  #acknowledged = 0;
  #over = false;
  #receiving: Promise<unknown> = Promise.resolve();

  /** @param name begins the ids of the events */
  constructor(name: string, parties: Party[], eventOf: (id: string, type: string) => object) {
    this.#name = name;
    this.#parties = parties;
    this.#eventOf = eventOf;
  }

  get accepted(): number {
    return this.#published;
  }

  start(): void {
    this.#receiving = Promise.all(this.#parties.map((_, party) => this.#receive(party)));
    // `stop` reports the error.
    this.#receiving.catch(() => {});
  }

  /** Publishes events for a party in one request, retrying until they are accepted. */
  async publish(party: number, count = 1): Promise<void> {
    const { type } = this.#parties[party] as Party;
    const ids = Array.from({ length: count }, () => `${this.#name}-${this.#named++}`);
    const sentAt = performance.now();
    for (const id of ids) this.#sent.set(id, { party, sentAt });
    const events = ids.map((id) => this.#eventOf(id, type));
    const media = count > 1 ? "application/cloudevents-batch+json" : "application/cloudevents+json";
    await this.#ask(party, "POST", "/events", count > 1 ? events : events[0], media);
    this.#published += count;
  }

  /** Resolves when all that was accepted has been received and acknowledged. */
  async drained(): Promise<void> {
    const all = () => this.#acknowledged >= this.#published;
    await settle(all, { within: PATIENCE_MS, every: 5, what: "every accepted event to be acknowledged" });
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#receiving;
  }

  async #receive(party: number): Promise<void> {
    while (!this.#over) {
      const { deliveries } = await this.#ask(party, "GET", `/delivery/poll?limit=100&wait=${WAIT_SECONDS}`);
      if (deliveries.length === 0) continue;
      const fresh: string[] = [];
      for (const { payload } of deliveries) {
        if (this.#received.has(payload.id)) this.repeated++;
        else fresh.push(payload.id);
        this.#received.add(payload.id);
      }
      const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
      await this.#ask(party, "POST", "/delivery/ack", { delivery_ids });
      this.#count(fresh);
    }
  }

  #count(ids: string[]): void {
    const acknowledgedAt = performance.now();
    for (const id of ids) {
      const sent = this.#sent.get(id);
      if (!sent) continue;
      this.#acknowledged++;
      this.trips.push({ ...sent, acknowledgedAt });
    }
  }

  /** Retries while the answer is 429 or 503, or missing. */
  async #ask(party: number, ...[method, path, body, type]: Parameters<Send>): Promise<Json> {
    const { send } = this.#parties[party] as Party;
    const waits = method === "GET" ? WAIT_SECONDS * 1000 : 0;
    const once = async () => {
      const asked = performance.now();
      const answer = await send(method, path, body, type).catch(() => null);
      this.longestMs = Math.max(this.longestMs, performance.now() - asked - waits);
      if (answer && answer.status !== 503) return answer;
      this.refused++;
      return null;
    };
    const answer = await settle(once, { within: PATIENCE_MS, every: AGAIN_EVERY_MS, what: path });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}
