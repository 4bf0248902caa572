/** Scans rows, which takes a thread, while no file descriptors are left, and afterwards. */
import { closeSync, openSync } from "node:fs";
import { openStore } from "../../storage/connection.ts";

const store = await openStore({ DATA_DIR: process.argv[2] as string });
store.onFatal(() => process.exit(3));
const rows = store.connection.db?.collection("rows");
if (!rows) throw new Error("no database");
await rows.insertOne({ n: 1 });
const look = () => rows.find({ n: 1 }).toArray();
const taken: number[] = [];
try {
  for (;;) taken.push(openSync("/dev/null", "r"));
} catch {}
const refused = await look().catch((err: { code?: string }) => err);
for (const each of taken) closeSync(each);
process.stdout.write(`${"code" in refused ? refused.code : "not refused"}, then ${(await look()).length}\n`);
await store.close();
