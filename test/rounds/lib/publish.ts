import type { SentEvent } from "./ledger.ts";
import { lane, pause, type Round } from "./round.ts";
import { KINDS, type World } from "./world.ts";

const SINGLES = 3;
const BATCH_TYPE = { "content-type": "application/cloudevents-batch+json" };

/** Publishes, one event a request and in batches, until the round is over. */
export function publishers(world: World, round: Round): Promise<void>[] {
  const { ledger } = world;
  const report = (what: string) => ledger.find(`publishing: ${what}`);
  // Unanswered events may exist or not: a retry must say so, and must not create a second.
  const again = [...ledger.unanswered.values()].filter(() => round.random.chance(0.5));
  const single = () => publishOne(world, round, again.pop() ?? newEvent(world, round));
  const batch = () => publishBatch(world, round);
  return [...Array<typeof single>(SINGLES).fill(single), batch].map((publish) =>
    lane(round, report, async () => {
      await publish();
      await pause(world.subject.publishEveryMs);
    }),
  );
}

function newEvent({ ledger }: World, { number, random }: Round): SentEvent {
  return ledger.newEvent(`r${number}`, random.pick(KINDS), "x".repeat(random.int(0, 1000)));
}

async function publishOne({ admin, ledger }: World, round: Round, event: SentEvent): Promise<void> {
  const headers: Record<string, string> = round.random.chance(0.2) ? { "idempotency-key": event.id } : {};
  const { status, body } = await admin.post("/events", event, headers);
  if (status === 202 || status === 200) ledger.answered(event, body);
  else if (round.struck && status >= 500) throw new Error(`a publish was answered with ${status}`);
  else ledger.find(`publishing ${event.id} was answered with ${status} ${JSON.stringify(body)}`);
}

async function publishBatch(world: World, round: Round): Promise<void> {
  const events = Array.from({ length: round.random.int(1, world.subject.largestBatch) }, () =>
    newEvent(world, round),
  );
  const { status, body } = await world.admin.post("/events", events, BATCH_TYPE);
  if (status === 202) {
    for (const [i, event] of events.entries()) {
      // A fault may refuse part of a batch: those events are sent again in a later round.
      if (!(round.struck && body[i].status === "rejected")) world.ledger.answered(event, body[i]);
    }
  } else if (round.struck && status >= 500) throw new Error(`a batch was answered with ${status}`);
  else world.ledger.find(`a batch was answered with ${status} ${JSON.stringify(body)}`);
}
