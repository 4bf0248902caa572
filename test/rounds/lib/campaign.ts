import { settle } from "../../support/settle.ts";
import type { Delivery, SentEvent } from "./ledger.ts";
import { everyThing, listAll, makers, makeTheRest } from "./make.ts";
import { prove, type StoredEvent } from "./proof.ts";
import { publishers } from "./publish.ts";
import { type Random, seeded } from "./random.ts";
import { pollOnce, receivers } from "./receive.ts";
import { pause, type Round } from "./round.ts";
import { type Actor, addNewcomer, newWorld, type Subject, VISIBILITY_SECONDS, type World } from "./world.ts";

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
  /** Things made under Idempotency-Keys. */
  made: number;
  /** Until the API answered again after each fault, in seconds. */
  recoveries: { fault: string; seconds: number }[];
  /** From the end of the last fault until nothing waited any more. */
  drainSeconds: number;
  /** All that must not be. */
  findings: string[];
}

const LONGEST_ROUND_MS = 3000;
const DRAIN_MS = 300_000;
/** Within this time of a fault's end the API answers again. */
const RECOVERED_MS = 60_000;

/**
 * Strikes at a random moment of each round, under load, and repairs it. At the end strikes while history is replayed, waits
 * for all deliveries, strikes once more, and checks the outcome.
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
    const drainSeconds = await drain(world, newRound(world, rounds + 1, random), say);
    say(`drained in ${drainSeconds.toFixed(1)} s: ${tally(world)}`);
    await expectSilence(world, random);
    const stored = await readBack(world);
    const findings = prove(world.ledger, stored, await everyThing(world));
    return { ...counts(world), recoveries: world.recoveries, drainSeconds, findings };
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
  await strike(world, round, say);
  round.over = true;
  await Promise.all(lanes);
}

async function strike(world: World, round: Round, say: (what: string) => void): Promise<void> {
  round.struck = true;
  const { what, forgets, cause } = world.subject.strike(round.random);
  say(what);
  const from = Date.now();
  await cause();
  const ended = Date.now();
  if (forgets) world.ledger.killed(from, ended);
  await recovered(world);
  const seconds = (Date.now() - ended) / 1000;
  world.recoveries.push({ fault: what.replace(/ \(.*\)$/, ""), seconds });
  say(`${what}: the API answers again after ${seconds.toFixed(1)} s`);
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

/**
 * Careful receivers take what there is, and a new one all of history, until nothing is left to be done.
 *
 * @returns how many seconds after the fault
 */
async function drain(world: World, round: Round, say: (what: string) => void): Promise<number> {
  round.careless = false;
  await makeTheRest(world);
  const isReplayed = await addNewcomer(world);
  const lanes = receivers(world, round);
  await strike(world, round, (what) => say(`replay: ${what}`));
  const from = performance.now();
  let left = "";
  const isDrained = async () => {
    left = "history is not replayed";
    if (!(await isReplayed())) return false;
    const { size } = new Set((await everyThing(world)).map(({ name }) => name));
    left = `${size} of ${world.ledger.made.size} things are there`;
    if (size < world.ledger.made.size) return false;
    const pending = await pendingOf(world);
    left = `${pending} deliveries pending`;
    if (pending !== 0) return false;
    const accepted = (await everyEvent(world)).filter(({ state }) => state !== "matched").length;
    left = `${accepted} events not matched`;
    return accepted === 0;
  };
  try {
    await settle(isDrained, { within: DRAIN_MS, every: 250, what: "every delivery to be acknowledged" });
  } catch (error) {
    world.ledger.find(`${(error as Error).message}: ${left}`);
  }
  const seconds = (performance.now() - from) / 1000;
  round.over = true;
  await Promise.all(lanes);
  return seconds;
}

/** Of the actors: the agent that asks for approvals gets the answers, and nobody polls for it. */
async function pendingOf({ admin, actors }: World): Promise<number> {
  const ids = new Set(actors.map(({ agent }) => agent.id));
  const { agents } = (await admin.get("/delivery/stats?limit=200")).body;
  const own = agents.filter(({ agent_id }: { agent_id: string }) => ids.has(agent_id));
  return own.reduce((sum: number, { pending }: { pending: number }) => sum + pending, 0);
}

/** After one more fault and the longest lease, nobody is given anything. */
async function expectSilence(world: World, random: Random): Promise<void> {
  const round = { ...newRound(world, 0, random), careless: false };
  await strike(world, round, () => {});
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

const everyEvent = ({ admin }: World): Promise<Listed[]> =>
  listAll(admin, "/events?limit=200&type=com.example.*", "events");

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
  const { findings, made } = world.ledger;
  const last = findings.length > 0 ? `, the last: ${findings.at(-1)}` : "";
  return `${accepted} of ${sent} events accepted, ${deliveries} deliveries received, ${repeats} again, ${made.size} things made, ${findings.length} findings${last}`;
}
