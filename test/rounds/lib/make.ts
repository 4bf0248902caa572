import { lane, pause, type Round } from "./round.ts";
import type { World } from "./world.ts";

const EVERY_MS = 10;

/** Makes channels, each under an Idempotency-Key, until the round is over. */
export function makers(world: World, round: Round): Promise<void>[] {
  const { ledger } = world;
  // Repeat unanswered requests: whether the first was processed or not, the answer is success.
  const again = [...ledger.unmade];
  const report = (what: string) => ledger.find(`making: ${what}`);
  const step = async () => {
    await make(world, again.pop() ?? ledger.newName(`r${round.number}`), () => round.struck);
    await pause(EVERY_MS);
  };
  return [lane(round, report, step)];
}

/** Asks again for what was asked for and not answered. */
export async function makeTheRest(world: World): Promise<void> {
  for (const name of world.ledger.unmade) await make(world, name, () => false);
}

async function make({ admin, ledger }: World, name: string, isStruck: () => boolean): Promise<void> {
  const { status, body } = await admin.post("/channels", { name }, { "idempotency-key": name });
  if (status === 201) ledger.make(name, body.id);
  // 409: the first request is still in progress.
  else if (isStruck() && (status >= 500 || status === 409)) throw new Error(`answered with ${status}`);
  else ledger.find(`making ${name} was answered with ${status} ${JSON.stringify(body)}`);
}
