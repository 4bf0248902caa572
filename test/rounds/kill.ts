/**
 * `npm run rounds:kill [-- ROUNDS [SEED]]`: SIGKILL at random moments under load, ten times unless told, then proof
 * that every accepted event is accounted for.
 */
import { randomInt } from "node:crypto";
import { runCampaign } from "./lib/campaign.ts";

const SHOWN = 50;

const [rounds, seed] = [process.argv[2] ?? "10", process.argv[3] ?? String(randomInt(2 ** 31))].map(Number);
if (!Number.isInteger(rounds) || !Number.isInteger(seed) || Number(rounds) < 1) {
  process.stderr.write(`ROUNDS and SEED are whole numbers: got ${process.argv.slice(2).join(" ")}.\n`);
  process.exit(1);
}
const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);

say(`${rounds} rounds, seed ${seed}`);
const { sent, accepted, deliveries, repeats, made, findings } = await runCampaign({
  rounds: rounds as number,
  seed: seed as number,
  say,
});
say(
  `${sent} events sent, ${accepted} accepted, ${deliveries} deliveries and ${repeats} of them again, ${made} channels made`,
);
for (const finding of findings.slice(0, SHOWN)) say(`WRONG: ${finding}`);
say(
  findings.length
    ? `${findings.length} findings.`
    : "Nothing was lost, doubled or given again after its ack.",
);
process.exitCode = findings.length ? 1 : 0;
