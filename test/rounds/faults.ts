/**
 * `npm run rounds:cluster [-- ROUNDS [SEED]]`: faults of a cluster at random moments under load (nodes killed, paused and
 * cut off, NATS, Redis and the record away, rolling restarts), a hundred unless told, then proof that every accepted
 * event is accounted for. One start of six is on FerretDB, where Go can build it; that is killed, too.
 */
import { getFerret } from "../support/ferretdb-build.ts";
import { startStruckCluster } from "./lib/cluster.ts";
import { runCommand } from "./lib/command.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);

const hasFerret = await canHaveFerret();
await runCommand(100, (nth) => startStruckCluster({ onFerret: hasFerret && nth % 6 === 1 }), 5);

async function canHaveFerret(): Promise<boolean> {
  try {
    await getFerret(say);
    return true;
  } catch (err) {
    say(`without FerretDB: ${(err as Error).message}`);
    return false;
  }
}
