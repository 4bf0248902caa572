import { settle } from "../../support/settle.ts";
import type { SentEvent } from "./ledger.ts";
import { makers, makeTheRest } from "./make.ts";
import { prove, type StoredChannel, type StoredEvent } from "./proof.ts";
import { publishers } from "./publish.ts";
import { type Random, seeded } from "./random.ts";
import { pollOnce, receivers } from "./receive.ts";
import { pause, type Round } from "./round.ts";
import { CHANNEL, newWorld, VISIBILITY_SECONDS, type World } from "./world.ts";

interface CampaignOptions {
  rounds: number;
  /** Of the choices that clients make; what meets what is up to the machine. */
  seed: number;
  say(line: string): void;
}

export interface Outcome {
  sent: number;
  accepted: number;
  deliveries: number;
  /** Deliveries that came again, as at-least-once may do. */
  repeats: number;
  /** Channels made under Idempotency-Keys. */
  made: number;
  /** All that must not be. */
  findings: string[];
}

const LONGEST_ROUND_MS = 3000;
const DRAIN_MS = 120_000;

/**
 * Kills the server at a random moment of each round, under load, and restarts it on the same data. At the end waits for
 * all deliveries, kills it again, and checks the outcome.
 */
export async function runCampaign({ rounds, seed, say }: CampaignOptions): Promise<Outcome> {
  const random = seeded(seed);
  const world = await newWorld();
  try {
    for (let number = 1; number <= rounds; number++) {
      await killRound(world, newRound(number, random));
      say(`round ${number}/${rounds}: ${tally(world)}`);
    }
    await drain(world, newRound(rounds + 1, random));
    say(`drained: ${tally(world)}`);
    await expectSilence(world, random);
    const stored = await readBack(world);
    return { ...counts(world), findings: prove(world.ledger, stored, await everyChannel(world)) };
  } finally {
    await world.server.stop();
  }
}

function newRound(number: number, random: Random): Round {
  return { number, random, over: false, killed: false, careless: true };
}

async function killRound(world: World, round: Round): Promise<void> {
  const lanes = [...publishers(world, round), ...receivers(world, round), ...makers(world, round)];
  // A run in which nothing was ever accepted would prove nothing.
  await settle(() => world.ledger.accepted.size > 0);
  await pause(round.random.int(0, LONGEST_ROUND_MS));
  round.killed = true;
  await world.server.kill();
  round.over = true;
  await Promise.all(lanes);
  await world.server.restart();
}

/** Careful receivers take what there is, until nothing is pending and nothing waits for its fan-out. */
async function drain(world: World, round: Round): Promise<void> {
  round.careless = false;
  await makeTheRest(world);
  const lanes = receivers(world, round);
  const isDrained = async () => {
    const stats = await world.admin.get("/delivery/stats?limit=1");
    return stats.body.pending === 0 && (await everyEvent(world)).every(({ state }) => state === "fanned_out");
  };
  try {
    await settle(isDrained, { within: DRAIN_MS, every: 250, what: "every delivery to be acknowledged" });
  } catch (error) {
    world.ledger.find((error as Error).message);
  }
  round.over = true;
  await Promise.all(lanes);
}

/** After one more kill and the longest lease, nobody is given anything. */
async function expectSilence(world: World, random: Random): Promise<void> {
  await world.server.kill();
  await world.server.restart();
  const round = { ...newRound(0, random), careless: false };
  const until = performance.now() + VISIBILITY_SECONDS * 1000 + 500;
  while (performance.now() < until) {
    const pages = await Promise.all(
      world.actors.map(async (actor) => ({ actor, page: await pollOnce(actor, round, () => {}) })),
    );
    for (const { actor, page } of pages) {
      for (const { id } of page)
        world.ledger.find(`${actor.record.name}: ${id} came after everything was settled`);
    }
  }
}

interface Listed {
  event_id: string;
  state: string;
  payload: SentEvent;
}

async function everyEvent({ admin }: World): Promise<Listed[]> {
  const events: Listed[] = [];
  let cursor = "";
  do {
    const { status, body } = await admin.get(`/events?limit=200&type=com.example.*${cursor}`);
    if (status !== 200) throw new Error(`GET /events was answered with ${status}`);
    events.push(...body.events);
    cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`;
  } while (cursor);
  return events;
}

async function everyChannel({ admin }: World): Promise<StoredChannel[]> {
  const channels: StoredChannel[] = [];
  for (let total = 1; channels.length < total; ) {
    const { status, body } = await admin.get(`/channels?limit=200&offset=${channels.length}`);
    if (status !== 200) throw new Error(`GET /channels was answered with ${status}`);
    channels.push(...body.channels);
    total = body.total;
  }
  return channels.filter(({ name }) => name !== CHANNEL);
}

/** Every event with the deliveries that were made of it. */
async function readBack(world: World): Promise<StoredEvent[]> {
  const names = new Map(world.actors.map(({ agent, record }) => [agent.id, record.name]));
  const listed = await everyEvent(world);
  const stored: StoredEvent[] = [];
  const read = async () => {
    for (let next = listed.pop(); next; next = listed.pop()) {
      const { status, body } = await world.admin.get(`/events/${next.event_id}`);
      if (status !== 200) throw new Error(`GET /events/${next.event_id} was answered with ${status}`);
      const rows = body.receivers.map((row: { agent_id: string }) => ({
        ...row,
        receiver: names.get(row.agent_id),
      }));
      stored.push({ ...next, receivers: rows });
    }
  };
  await Promise.all(Array.from({ length: 8 }, read));
  return stored;
}

function counts({ ledger }: World) {
  const { sent, accepted, receivers, made } = ledger;
  return {
    sent: sent.size,
    accepted: accepted.size,
    deliveries: receivers.reduce((sum, { receipts }) => sum + receipts.size, 0),
    repeats: receivers.reduce((sum, { repeats }) => sum + repeats, 0),
    made: made.size,
  };
}

function tally(world: World): string {
  const { sent, accepted, deliveries, repeats } = counts(world);
  const { length } = world.ledger.findings;
  return `${accepted} of ${sent} events accepted, ${deliveries} deliveries received, ${repeats} again, ${length} findings`;
}
