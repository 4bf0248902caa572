import { randomInt } from "node:crypto";
import { endChildren } from "../../support/child.ts";
import { type Outcome, runCampaign } from "./campaign.ts";
import type { Subject } from "./world.ts";

const SHOWN = 50;

/**
 * Runs the rounds that the command line asks for (`[ROUNDS [SEED]]`), prints their progress and sets the exit code.
 *
 * @param start is told how many starts there were before
 * @param atATime after so many rounds everything is proven, and the next ones begin on an empty store
 */
export async function runCommand(
  defaultRounds: number,
  start: (nth: number) => Promise<Subject>,
  atATime = Number.POSITIVE_INFINITY,
): Promise<void> {
  const [rounds, seed] = [
    process.argv[2] ?? String(defaultRounds),
    process.argv[3] ?? String(randomInt(2 ** 31)),
  ].map(Number) as [number, number];
  if (!Number.isInteger(rounds) || !Number.isInteger(seed) || rounds < 1) {
    process.stderr.write(`ROUNDS and SEED are whole numbers: got ${process.argv.slice(2).join(" ")}.\n`);
    process.exit(1);
  }
  const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void endChildren().finally(() => process.exit(1)));
  say(`${rounds} rounds, seed ${seed}`);
  const total = { sent: 0, accepted: 0, deliveries: 0, repeats: 0, made: 0 };
  const findings: string[] = [];
  const recoveries: Outcome["recoveries"] = [];
  const drains: number[] = [];
  for (let done = 0; done < rounds; done += atATime) {
    if (done > 0) say(`${done} of ${rounds} rounds done, on a new start`);
    const each = { rounds: Math.min(atATime, rounds - done), seed: seed + done, say };
    const outcome = await runCampaign({ ...each, start: () => start(done / atATime) });
    const { findings: found, ...counts } = outcome;
    findings.push(...found);
    recoveries.push(...outcome.recoveries);
    drains.push(outcome.drainSeconds);
    for (const finding of found.slice(0, SHOWN)) say(`WRONG: ${finding}`);
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += counts[name];
  }
  const { sent, accepted, deliveries, repeats, made } = total;
  say(
    `${sent} events sent, ${accepted} accepted, ${deliveries} deliveries and ${repeats} of them again, ${made} things made`,
  );
  for (const [fault, all = []] of Object.entries(Object.groupBy(recoveries, ({ fault }) => fault)))
    say(
      `${fault}: ${all.length} times, answers again ${spread(all.map(({ seconds }) => seconds))} after its end`,
    );
  say(`Nothing waited any more ${spread(drains)} after the last fault of a start.`);
  say(
    findings.length
      ? `${findings.length} findings.`
      : "Nothing was lost, doubled or given again after its ack.",
  );
  process.exitCode = findings.length ? 1 : 0;
}

/** The median and the longest. */
function spread(seconds: number[]): string {
  const sorted = seconds.toSorted((a, b) => a - b);
  return `${sorted[sorted.length >> 1]?.toFixed(1)} s, at most ${sorted.at(-1)?.toFixed(1)} s,`;
}
