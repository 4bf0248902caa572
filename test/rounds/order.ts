/** `npm run rounds:order [-- EVENTS [SEED]]`: deliveries in order of a key while two of three workers are killed. */
import { randomInt } from "node:crypto";
import { endChildren } from "../support/child.ts";
import { startMongo } from "../support/mongo.ts";
import { runOrdered } from "./lib/ordered.ts";

const [events = 20_000, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number);
const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void endChildren().finally(() => process.exit(1)));
const mongo = await startMongo({ say });
if ("skipped" in mongo) throw new Error(mongo.skipped);
say(`${events} events, seed ${seed}`);
const { findings } = await runOrdered({ mongoUrl: mongo.url, events, seed, say });
for (const finding of findings.slice(0, 50)) say(`WRONG: ${finding}`);
say(
  findings.length
    ? `${findings.length} findings.`
    : "No order and no limit was violated, and nothing was lost.",
);
process.exitCode = findings.length ? 1 : 0;
await mongo.stop();
