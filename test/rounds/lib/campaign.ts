import { settle } from "../../support/settle.ts";
import type { Delivery, SentEvent } from "./ledger.ts";
import { makers, makeTheRest } from "./make.ts";
import { prove, type StoredChannel, type StoredEvent } from "./proof.ts";
import { publishers } from "./publish.ts";
import { type Random, seeded } from "./random.ts";
import { pollOnce, receivers } from "./receive.ts";
import { pause, type Round } from "./round.ts";
import { type Actor, CHANNEL, newWorld, type Subject, VISIBILITY_SECONDS, type World } from "./world.ts";

interface CampaignOptions {
  rounds: number;
  /** Of the choices that clients make; what meets what is up to the machine. */
  seed: number;
  say(line: string): void;
  /** Starts what the rounds strike. */
  start(): Promise<Subject>;
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
const DRAIN_MS = 300_000;
/** Within this time of a fault's end the API answers again. */
const RECOVERED_MS = 60_000;

/**
 * Strikes at a random moment of each round, under load, and repairs it. At the end waits for all deliveries, strikes once
 * more, and checks the outcome.
 */
export async function runCampaign({ rounds, seed, say, start }: CampaignOptions): Promise<Outcome> {
  const random = seeded(seed);
  const world = await newWorld(await start());
  try {
    for (let number = 1; number <= rounds; number++) {
      const label = `round ${number}/${rounds}`;
      await strikeRound(world, newRound(world, number, random), (what) => say(`${label}: ${what}`));
      say(`${label}: ${tally(world)}`);
    }
    await drain(world, newRound(world, rounds + 1, random));
    say(`drained: ${tally(world)}`);
    await expectSilence(world, random);
    const stored = await readBack(world);
    return { ...counts(world), findings: prove(world.ledger, stored, await everyChannel(world)) };
  } finally {
    await world.subject.stop();
  }
}

function newRound({ subject }: World, number: number, random: Random): Round {
  return { number, random, over: false, struck: subject.aftermath, careless: true };
}

/** Says what the fault is before it is caused, so that a hang has a name. */
async function strikeRound(world: World, round: Round, say: (what: string) => void): Promise<void> {
  const lanes = [...publishers(world, round), ...receivers(world, round), ...makers(world, round)];
  // A run in which nothing was ever accepted would prove nothing.
  await settle(() => world.ledger.accepted.size > 0);
  await pause(round.random.int(0, LONGEST_ROUND_MS));
  round.struck = true;
  const { what, forgets, cause } = world.subject.strike(round.random);
  say(what);
  const from = Date.now();
  await cause();
  const ended = Date.now();
  if (forgets) world.ledger.killed(from, ended);
  await recovered(world);
  say(`${what}: the API answers again after ${((Date.now() - ended) / 1000).toFixed(1)} s`);
  round.over = true;
  await Promise.all(lanes);
}

/** Resolves when the API answers, several times in a row: a gateway may still know a node that is gone. */
async function recovered({ admin }: World): Promise<void> {
  let answers = 0;
  const answered = async () => {
    const status = await admin.get("/delivery/stats?limit=1").then(
      (answer) => answer.status,
      () => 0,
    );
    answers = status === 200 ? answers + 1 : 0;
    return answers >= 5;
  };
  await settle(answered, { within: RECOVERED_MS, every: 50, what: "the API to answer again" });
}

/** Careful receivers take what there is, until nothing is pending and nothing waits for its fan-out. */
async function drain(world: World, round: Round): Promise<void> {
  round.careless = false;
  await makeTheRest(world);
  const lanes = receivers(world, round);
  let left = "";
  const isDrained = async () => {
    const { body } = await world.admin.get("/delivery/stats?limit=1");
    left = `${body.pending} deliveries pending`;
    if (body.pending !== 0) return false;
    const accepted = (await everyEvent(world)).filter(({ state }) => state !== "matched").length;
    left = `${accepted} events not matched`;
    return accepted === 0;
  };
  try {
    await settle(isDrained, { within: DRAIN_MS, every: 250, what: "every delivery to be acknowledged" });
  } catch (error) {
    world.ledger.find(`${(error as Error).message}: ${left}`);
  }
  round.over = true;
  await Promise.all(lanes);
}

/** After one more fault and the longest lease, nobody is given anything. */
async function expectSilence(world: World, random: Random): Promise<void> {
  await world.subject.strike(random).cause();
  await recovered(world);
  const round = { ...newRound(world, 0, random), careless: false };
  const until = performance.now() + VISIBILITY_SECONDS * 1000 + 500;
  const answered = new Set<Actor>();
  const isHeard = () => answered.size === world.actors.length || performance.now() > until + RECOVERED_MS;
  while (performance.now() < until || !isHeard()) {
    const pages = await Promise.all(
      world.actors.map(async (actor) => ({ actor, page: await quietPoll(actor, round) })),
    );
    for (const { actor, page } of pages) {
      if (page === null) continue;
      answered.add(actor);
      for (const { id } of page)
        world.ledger.find(`${actor.record.name}: ${id} came after everything was settled`);
    }
  }
  for (const actor of world.actors)
    if (!answered.has(actor))
      world.ledger.find(`${actor.record.name}: no poll was answered after the last fault`);
}

/** Polls for what must not come. Returns null if it was refused, as it may be in the aftermath. */
async function quietPoll(actor: Actor, round: Round): Promise<Delivery[] | null> {
  return pollOnce(actor, round, () => {}).catch(() => pause(100).then(() => null));
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
    ...{ sent: sent.size, accepted: accepted.size },
    deliveries: receivers.reduce((sum, { receipts }) => sum + receipts.size, 0),
    ...{ repeats: receivers.reduce((sum, { repeats }) => sum + repeats, 0), made: made.size },
  };
}

function tally(world: World): string {
  const { sent, accepted, deliveries, repeats } = counts(world);
  const { length } = world.ledger.findings;
  return `${accepted} of ${sent} events accepted, ${deliveries} deliveries received, ${repeats} again, ${length} findings`;
}
