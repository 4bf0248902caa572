/**
 * `npm run atlas:check`: what only a real MongoDB or Atlas can show, on the one in `MONGO_URL`, in a database of its own
 * that is dropped afterwards. Prints a table; exits with 1 if a check failed. `-- --failover` also has the primary step
 * down, which everyone who uses that server notices.
 */
import { openStore } from "../../storage/connection.ts";
import { startMongo } from "../support/mongo.ts";
import { type Check, NotSupported } from "./checks.ts";
import { checkPlans } from "./plans.ts";
import { checkFailover, checkMajority } from "./replicas.ts";
import { checkNeighbours, checkSearchIndex, checkSearchPlan, checkVectorPlan } from "./search.ts";

const CHECKS: [name: string, check: Check][] = [
  ["writes wait for a majority", checkMajority],
  ["failover loses no answered write", checkFailover],
  ["indexes serve filters and sorts", checkPlans],
  ["$search and $vectorSearch find as the local index does", checkSearchIndex],
  ["$search names the tenant first", checkSearchPlan],
  ["$vectorSearch names the tenant first", checkVectorPlan],
  ["neighbours are read by an index", checkNeighbours],
];

if (!process.env.MONGO_URL) {
  console.error(
    `MONGO_URL is not set. Set it to a MongoDB replica set or an Atlas cluster, with the right to create and drop a
database, for example MONGO_URL='mongodb://127.0.0.1:27017/?directConnection=true' npm run atlas:check`,
  );
  process.exit(1);
}

const mongo = await startMongo();
if (!("url" in mongo)) throw new Error(mongo.skipped);
const store = await openStore({ DATA_DIR: "", MONGO_URL: mongo.url });
const mayStepDown = process.argv.includes("--failover");
try {
  const rows: [string, string, string][] = [];
  for (const [name, check] of CHECKS) {
    console.error(`${name} …`);
    rows.push([name, ...(await outcome(check))]);
  }
  const widths = [0, 1].map((i) => Math.max(...rows.map((row) => (row[i] as string).length)));
  for (const [name, result, detail] of rows)
    console.log(
      `${name.padEnd(widths[0] as number)}  ${result.padEnd(widths[1] as number)}  ${detail}`.trim(),
    );
  process.exitCode = rows.some(([, result]) => result === "FAILED") ? 1 : 0;
} finally {
  await store.close();
  await mongo.stop();
}

async function outcome(check: Check): Promise<[result: string, detail: string]> {
  try {
    return ["ok", await check({ store, url: (mongo as { url: string }).url, mayStepDown })];
  } catch (error) {
    const [line = ""] = (error as Error).message.split("\n");
    return [error instanceof NotSupported ? "not supported" : "FAILED", line];
  }
}
