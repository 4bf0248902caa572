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
    await make(world, again.pop() ?? ledger.newName(`r${round.number}`));
    await pause(EVERY_MS);
  };
  return [lane(round, report, step)];
}

/** Asks again for what was asked for and not answered. */
export async function makeTheRest(world: World): Promise<void> {
  for (const name of world.ledger.unmade) await make(world, name);
}

async function make({ admin, ledger }: World, name: string): Promise<void> {
  const { status, body } = await admin.post("/channels", { name }, { "idempotency-key": name });
  if (status === 201) ledger.make(name, body.id);
  else ledger.find(`making ${name} was answered with ${status} ${JSON.stringify(body)}`);
}
