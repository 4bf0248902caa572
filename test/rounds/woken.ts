/** `npm run rounds:woken [-- EVENTS [KILLS [SEED]]]`: events wake commands that misbehave, while server and worker are killed. */
import { randomInt } from "node:crypto";
import { endChildren } from "../support/child.ts";
import { runWoken } from "./lib/woken.ts";

const [events = 200, kills = 7, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void endChildren().finally(() => process.exit(1)));
say(`${events} events, ${kills} kills, seed ${seed}`);
const findings = await runWoken({ events, kills, seed, say });
for (const finding of findings.slice(0, 50)) say(`WRONG: ${finding}`);
say(findings.length ? `${findings.length} findings.` : "Nothing was lost or out of order.");
process.exitCode = findings.length ? 1 : 0;
