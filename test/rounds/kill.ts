/**
 * `npm run rounds:kill [-- ROUNDS [SEED]]`: SIGKILL at random moments under load, ten times unless told, then proof
 * that every accepted event is accounted for.
 */
import { runCommand } from "./lib/command.ts";
import { startKilled } from "./lib/killed.ts";

await runCommand(10, startKilled);
