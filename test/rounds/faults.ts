/**
 * `npm run rounds:cluster [-- ROUNDS [SEED]]`: faults of a cluster at random moments under load (nodes killed, paused and
 * cut off, NATS, Redis and the record away, rolling restarts), a hundred unless told, then proof that every accepted
 * event is accounted for.
 */
import { startStruckCluster } from "./lib/cluster.ts";
import { runCommand } from "./lib/command.ts";

await runCommand(100, startStruckCluster, 5);
