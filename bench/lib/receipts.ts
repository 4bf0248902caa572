import { progress } from "./report.ts";
import { newTypedReceiver, type TypedReceiver, type Way } from "./ways.ts";
import { sampleEvent, type World } from "./world.ts";

const RECEIVERS = 10;
/** Time until every receiver is waiting. */
const SETTLING_MS = 300;
/** On a quiet machine the publisher is at most some milliseconds late. */
const DELAYED_MS = 12;
const MAX_ATTEMPTS = 4;
/** A run that takes this much longer than planned has lost an event. */
const TIMEOUT_MS = 60_000;

/** Creates ten receivers, whose event types start with `com.example.<name>.`. */
export function typedReceivers(world: World, name: string, way: Way = "poll"): Promise<TypedReceiver[]> {
  return Promise.all(
    Array.from({ length: RECEIVERS }, (_, i) => newTypedReceiver(world, `com.example.${name}.r${i}`, way)),
  );
}

/**
 * Publishes at a steady rate, one event per request, to each receiver's event type in turn, while every receiver
 * receives and acknowledges. Open loop: a slow answer does not slow the publisher down.
 *
 * @returns milliseconds from sending each publish to receiving its delivery
 */
export async function measureReceipts(
  world: World,
  receivers: TypedReceiver[],
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const [times] = await measureGroups(world, [receivers], perSecond, seconds);
  return times as number[];
}

/**
 * The same for groups of receivers that alternate in one run; returns the times of each group. A run in which other
 * work held up this process says little about the server and is repeated; the least disturbed run counts.
 */
export async function measureGroups(
  world: World,
  groups: TypedReceiver[][],
  perSecond: number,
  seconds: number,
): Promise<number[][]> {
  let best = await runOnce(world, groups, perSecond, seconds);
  for (let attempt = 1; attempt < MAX_ATTEMPTS && best.heldUpMs > DELAYED_MS; attempt++) {
    progress(`this process was held up for ${best.heldUpMs.toFixed(0)} ms: measuring again`);
    const next = await runOnce(world, groups, perSecond, seconds);
    if (next.heldUpMs < best.heldUpMs) best = next;
  }
  return best.times;
}

async function runOnce({ client }: World, groups: TypedReceiver[][], perSecond: number, seconds: number) {
  const total = perSecond * seconds;
  const run = new Run(groups, total);
  const receiving = run.receive();
  await new Promise((next) => setTimeout(next, SETTLING_MS));
  let heldUpMs = 0;
  const start = performance.now();
  for (let n = 0; n < total; n++) {
    const due = start + (n * 1000) / perSecond;
    while (performance.now() < due) await new Promise((next) => setTimeout(next, 1));
    heldUpMs = Math.max(heldUpMs, performance.now() - due);
    void client.send("POST", "/events", run.nextEvent());
  }
  await run.whole(TIMEOUT_MS);
  await receiving;
  return { times: run.times, heldUpMs };
}

/** One measurement: what was sent when, to which group, and its receipts. */
class Run {
  readonly times: number[][];
  readonly #groups: TypedReceiver[][];
  readonly #total: number;
  readonly #name = `r${Date.now().toString(36)}`;
  readonly #sent = new Map<string, { group: number; at: number }>();
  readonly #over = new AbortController();
  #published = 0;
  #arrived = 0;

  constructor(groups: TypedReceiver[][], total: number) {
    this.#groups = groups;
    this.#total = total;
    this.times = groups.map(() => []);
  }

  receive(): Promise<unknown> {
    const received = (id: string) => this.#received(id);
    return Promise.all(this.#groups.flat().map((each) => each.receive(received, this.#over.signal)));
  }

  nextEvent() {
    const n = this.#published++;
    const group = n % this.#groups.length;
    const receivers = this.#groups[group] as TypedReceiver[];
    const { type } = receivers[Math.floor(n / this.#groups.length) % receivers.length] as TypedReceiver;
    const event = sampleEvent(`${this.#name}-${n}`, type);
    this.#sent.set(event.id, { group, at: performance.now() });
    return event;
  }

  #received(id: string): void {
    const sent = this.#sent.get(id);
    if (!sent) return;
    this.#sent.delete(id);
    this.times[sent.group]?.push(performance.now() - sent.at);
    if (++this.#arrived === this.#total) this.#over.abort();
  }

  /** @throws Error if an event does not arrive */
  async whole(patienceMs: number): Promise<void> {
    const { signal } = this.#over;
    const late = AbortSignal.timeout(patienceMs);
    if (!signal.aborted)
      await new Promise((next) => AbortSignal.any([signal, late]).addEventListener("abort", next));
    if (!signal.aborted) throw new Error(`${this.#total - this.#arrived} events never arrived`);
  }
}
