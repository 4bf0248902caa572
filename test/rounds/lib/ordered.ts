import { firstAgent } from "../../support/agents.ts";
import type { Child } from "../../support/child.ts";
import type { Answer } from "../../support/http.ts";
import { startNodes } from "../../support/nodes.ts";
import { newReceiver, type Receiver } from "../../support/receiver.ts";
import { settle } from "../../support/settle.ts";
import { ok } from "../../support/tenancy.ts";
import { type Random, seeded } from "./random.ts";
import { pause } from "./round.ts";

const KEYS = 12;
const PUBLISHERS = 4;
const RECEIVERS = 6;
const MAX_IN_FLIGHT = 5;
const LEASE_SECONDS = 5;
/** Publishers wait for receivers that are so many events behind: the MongoDB stand-in reads all that is pending. */
const MOST_BEHIND = 500;
/** How long everything may take until it is settled, and for each event more. */
const SETTLED_MS = 120_000;
const EVENT_MS = 100;

interface OrderedOptions {
  mongoUrl: string;
  events: number;
  seed: number;
  say(line: string): void;
}

/** A delivery as a poll gives it. */
interface Given {
  id: string;
  lease: string;
  lease_expires_at: string;
  payload: { data: { key: string; n: number } };
}

/**
 * What an agent with an ordering key and a limit in flight was given. It knows less than the server does: what it takes
 * for given out of order, or for one too many in flight, is so.
 */
class OrderLedger {
  readonly findings: string[] = [];
  /** The highest number of each key that was given, and acknowledged by a request that was sent. */
  readonly #given = new Map<string, number>();
  readonly #acknowledging = new Map<string, number>();
  /** Ends of the leases that are held, by delivery. */
  readonly #held = new Map<string, number>();
  repeats = 0;

  receive({ id, lease_expires_at, payload: { data } }: Given): void {
    const { key, n } = data;
    const last = this.#given.get(key) ?? 0;
    if (n < last) this.findings.push(`${key} ${n} came after ${last}`);
    if (n > last + 1) this.findings.push(`${key} ${n} came, but not ${last + 1}`);
    if (n > 1 && (this.#acknowledging.get(key) ?? 0) < n - 1)
      this.findings.push(`${key} ${n} came before the one before was acknowledged`);
    if (n <= last) this.repeats++;
    this.#given.set(key, Math.max(n, last));
    for (const [other, until] of this.#held) if (until <= Date.now()) this.#held.delete(other);
    this.#held.set(id, Date.parse(lease_expires_at));
    if (this.#held.size > MAX_IN_FLIGHT)
      this.findings.push(`${this.#held.size} were in flight with ${key} ${n}`);
  }

  /** A request is about to be sent that settles a delivery. */
  settling({ id, payload: { data } }: Given, isAcknowledged: boolean): void {
    this.#held.delete(id);
    if (isAcknowledged)
      this.#acknowledging.set(data.key, Math.max(data.n, this.#acknowledging.get(data.key) ?? 0));
  }

  get acknowledged(): number {
    return [...this.#acknowledging.values()].reduce((sum, n) => sum + n, 0);
  }
}

/**
 * Publishes events with keys, each of a key when the one before is answered, to an agent that several processes serve,
 * behind three workers. Two of them are killed meanwhile. Returns what must not be: an event out of its order, more in
 * flight than the agent may have, or an event lost.
 */
export async function runOrdered({ mongoUrl, events, seed, say }: OrderedOptions) {
  const random = seeded(seed);
  const nodes = await startNodes(mongoUrl, 3);
  try {
    const admin = await firstAgent(nodes.gateway);
    const type = "com.example.ordered";
    const agent = {
      max_in_flight: MAX_IN_FLIGHT,
      visibility_timeout_seconds: LEASE_SECONDS,
      retry_budget: 100,
    };
    const interests = [{ event_type: type, ordering_key: "data.key" }];
    const receiver = await newReceiver(nodes.gateway, admin, "ordered", { interests, agent });
    const ledger = new OrderLedger();
    const state = { over: false, published: 0 };
    const publish = async (publisher: number) => {
      const counts = new Map<string, number>();
      const own = Math.floor(events / PUBLISHERS) + (publisher < events % PUBLISHERS ? 1 : 0);
      for (let each = 0; each < own; each++) {
        const key = `key-${(publisher + random.int(0, KEYS / PUBLISHERS - 1) * PUBLISHERS) % KEYS}`;
        const n = (counts.get(key) ?? 0) + 1;
        counts.set(key, n);
        const event = {
          ...{ specversion: "1.0", type, source: "/rounds/order", id: `${key}-${n}`, data: { key, n } },
        };
        while (state.published - ledger.acknowledged >= MOST_BEHIND) await pause(20);
        await answered(() => admin.post("/events", event));
        state.published++;
      }
    };
    const receiving = Array.from({ length: RECEIVERS }, () => receiveAll(receiver, ledger, random, state));
    const publishing = Promise.all(Array.from({ length: PUBLISHERS }, (_, n) => publish(n)));
    for (const [n, share] of [0.3, 0.6].entries()) {
      await settle(() => state.published >= share * events, { within: SETTLED_MS + events * EVENT_MS });
      say(`${state.published} published, ${ledger.acknowledged} acknowledged: worker ${n} is killed`);
      await (nodes.workers[n] as Child).end("SIGKILL");
    }
    await publishing;
    const isSettled = async () => {
      const { status, body } = await receiver.api.get("/delivery/stats");
      return ledger.acknowledged === events && status === 200 && body.pending === 0;
    };
    await settle(isSettled, { within: SETTLED_MS + events * EVENT_MS }).catch(() =>
      ledger.findings.push(`${events} were published, ${ledger.acknowledged} acknowledged`),
    );
    state.over = true;
    await Promise.all(receiving);
    const { dead } = ok(await receiver.api.get("/delivery/stats"));
    if (dead > 0) ledger.findings.push(`${dead} are dead`);
    say(`${events} events, ${ledger.acknowledged} acknowledged, ${ledger.repeats} came again`);
    return { acknowledged: ledger.acknowledged, findings: ledger.findings };
  } finally {
    // The workers that were killed did not end well.
    await nodes.stop().catch(() => {});
  }
}

async function receiveAll(
  { api }: Receiver,
  ledger: OrderLedger,
  random: Random,
  state: { over: boolean },
): Promise<void> {
  while (!state.over) {
    const answer = await api.get("/delivery/poll?wait=1&limit=3").catch(() => null);
    if (answer?.status !== 200) {
      await pause(100);
      continue;
    }
    const deliveries: Given[] = answer.body.deliveries;
    for (const each of deliveries) ledger.receive(each);
    await pause(random.int(0, 20));
    for (const each of deliveries) {
      const isAcknowledged = random.int(0, 9) > 0;
      ledger.settling(each, isAcknowledged);
      const named = { delivery_ids: [each.id], lease: each.lease };
      const body = isAcknowledged ? named : { ...named, delay_seconds: random.int(0, 1) };
      // Without an answer its lease ends.
      await api.post(isAcknowledged ? "/delivery/ack" : "/delivery/nack", body).catch(() => {});
    }
  }
}

/** Repeats a request until it succeeds. */
async function answered(ask: () => Promise<Answer>): Promise<void> {
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer && answer.status < 300) return;
    if (answer && answer.status !== 503 && answer.status !== 429) ok(answer);
    await pause(100);
  }
}
