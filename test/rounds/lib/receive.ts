import { openStream } from "../../support/stream.ts";
import type { Delivery } from "./ledger.ts";
import { lane, pause, type Round } from "./round.ts";
import { type Actor, VISIBILITY_SECONDS, type World } from "./world.ts";

/** Receives and settles for every actor until the round is over. */
export function receivers({ server, ledger, actors }: World, round: Round): Promise<void>[] {
  return actors.flatMap((actor) => {
    const report = (what: string) => ledger.find(`${actor.record.name}: ${what}`);
    const note = (wrong: string[]) => ledger.find(...wrong);
    const step =
      actor.record.via === "poll"
        ? () => pollOnce(actor, round, note)
        : () => readStream(`${server.url}/delivery/stream`, actor, round, note);
    return Array.from({ length: actor.lanes }, () => lane(round, report, step));
  });
}

const LATE_AT_A_TIME = 4;
const LATE_EVERY_MS = 10;

type Note = (wrong: string[]) => void;

/** One long poll, and what the receiver does with its page. */
export async function pollOnce({ agent, record }: Actor, round: Round, note: Note): Promise<Delivery[]> {
  const asked = Date.now();
  const { status, body } = await agent.api.get(`/delivery/poll?wait=1&limit=${round.random.int(1, 100)}`);
  if (status !== 200) throw new Error(`a poll was answered with ${status} ${JSON.stringify(body)}`);
  for (const delivery of body.deliveries as Delivery[]) {
    const leased = Date.parse(delivery.lease_expires_at) - VISIBILITY_SECONDS * 1000;
    note(record.receive(delivery, Math.max(asked, leased), Date.now()));
  }
  await settlePage({ agent, record }, body.deliveries, round, note);
  return body.deliveries;
}

/** Reads one stream to its end, or leaves it at a random moment with all that it holds. */
async function readStream(url: string, { agent, record }: Omit<Actor, "lanes">, round: Round, note: Note) {
  const opened = Date.now();
  const stream = await openStream(`${url}?max_in_flight=${round.random.int(1, 100)}`, agent.token);
  const leave = setInterval(() => round.over && stream.close(), 50);
  try {
    for await (const messages of stream.chunks) {
      const deliveries = messages
        .filter(({ event }) => event === "delivery")
        .map(({ data }) => data as Delivery);
      for (const delivery of deliveries) note(record.receive(delivery, opened, Date.now()));
      if (round.careless && round.random.chance(0.02)) break;
      await settlePage({ agent, record }, deliveries, round, note);
    }
  } finally {
    clearInterval(leave);
    stream.close();
  }
}

async function settlePage(
  actor: Omit<Actor, "lanes">,
  page: Delivery[],
  round: Round,
  note: Note,
): Promise<void> {
  if (page.length === 0) return;
  const luck = round.careless ? round.random.int(1, 100) : 0;
  if (luck <= 65) return acknowledge(actor, page, note);
  if (luck <= 75) return acknowledgeTwice(actor, page, note);
  if (luck > 95) return;
  if (luck > 85) return acknowledgeLate(actor, page, note);
  const half = Math.ceil(page.length / 2);
  await acknowledge(actor, page.slice(0, half), note);
  if (half < page.length) await giveBack(actor, page.slice(half), round);
}

async function acknowledge(
  { agent, record }: Omit<Actor, "lanes">,
  page: Delivery[],
  note: Note,
): Promise<void> {
  const delivery_ids = page.map(({ id }) => id);
  record.acknowledging(delivery_ids);
  const answer = await agent.api.post("/delivery/ack", { delivery_ids }).catch((error: Error) => error);
  if (answer instanceof Error || answer.status !== 200) {
    record.acknowledgeLost(delivery_ids);
    throw answer instanceof Error ? answer : new Error(`an ack was answered with ${answer.status}`);
  }
  note(record.acknowledge(delivery_ids, answer.body.acknowledged, Date.now()));
}

async function acknowledgeTwice(actor: Omit<Actor, "lanes">, page: Delivery[], note: Note): Promise<void> {
  await acknowledge(actor, page, note);
  await acknowledge(actor, page, note);
}

/** Little by little, while the leases run out and the next poll takes what is left: either may win, never both. */
async function acknowledgeLate(actor: Omit<Actor, "lanes">, page: Delivery[], note: Note): Promise<void> {
  await pause(VISIBILITY_SECONDS * 1000);
  for (let at = 0; at < page.length; at += LATE_AT_A_TIME) {
    await acknowledge(actor, page.slice(at, at + LATE_AT_A_TIME), note);
    await pause(LATE_EVERY_MS);
  }
}

async function giveBack(
  { agent, record }: Omit<Actor, "lanes">,
  page: Delivery[],
  { random }: Round,
): Promise<void> {
  for (const delivery of page) record.giveBack(delivery);
  const delivery_ids = page.map(({ id }) => id);
  const { status } = await agent.api.post("/delivery/nack", {
    delivery_ids,
    delay_seconds: random.int(0, 1),
  });
  if (status !== 200) throw new Error(`a nack was answered with ${status}`);
}
