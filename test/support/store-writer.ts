/** Writes rows to the store in DATA_DIR from many callers at once, and prints the id of each once it is acknowledged. */
import { openStore } from "../../storage/connection.ts";

const store = await openStore({ DATA_DIR: process.argv[2] as string });
const rows = store.connection.db?.collection<{ _id: string; n: number; tags: string[] }>("rows");
if (!rows) throw new Error("no database");
await rows.createIndexes([{ key: { n: 1 } }, { key: { tags: 1 } }]);

const run = process.argv[3] as string;
let next = 0;
async function caller(): Promise<never> {
  for (;;) {
    const n = next++;
    const _id = `${run}-${n}`;
    await rows?.insertOne({ _id, n, tags: ["a", `b${n}`] });
    process.stdout.write(`inserted ${_id}\n`);
    if (n % 3 !== 0) continue;
    await rows?.updateOne({ _id, n }, { $set: { n: -n }, $push: { tags: "c" } });
    process.stdout.write(`updated ${_id}\n`);
  }
}
await Promise.all(Array.from({ length: 16 }, caller));
