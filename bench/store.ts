/**
 * Micro-benchmark of the embedded store: `node bench/store.ts`. Prints operations per second and CPU of the main
 * thread.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Collection } from "mongodb";
import { Schema } from "mongoose";
import { openStore } from "../storage/connection.ts";
import { commitMilliseconds } from "./lib/stats.ts";

interface Row {
  _id: string;
  tenant_id: string;
  agent_id: string;
  state: string;
  priority: number;
  created_at: Date;
  event_id: string;
  due_at?: Date;
  pad?: string;
}

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), "sensorium-bench-"));
const store = await openStore({ DATA_DIR: folder });
const schema = new Schema<Row>(
  { _id: String, tenant_id: String, agent_id: String },
  { versionKey: false, strict: false },
);
schema.index({ tenant_id: 1, state: 1, agent_id: 1, priority: -1, created_at: 1 });
schema.index({ tenant_id: 1, event_id: 1 });
schema.index({ due_at: 1 }, { sparse: true });
const rows = store.collection<Row>({ name: "rows", schema }).system as Collection<Row>;
const model = store.connection.model<Row>("rows");
await store.ready();

let made = 0;
const PAD = "x".repeat(700);

/** Unordered ids, like derived ids. */
function idOf(n: number): string {
  return `dlv_${((n * 7919) % 1_000_003).toString(36).padStart(20, "0")}`;
}

function row(pad?: string): Row {
  const n = made++;
  const created_at = new Date(1_700_000_000_000 + n);
  const given = {
    _id: idOf(n),
    tenant_id: "tn_1",
    agent_id: `ag_${n % 50}`,
    state: "ready",
    priority: n % 10,
  };
  return { ...given, created_at, event_id: `evt_${n}`, ...(pad ? { pad } : {}) };
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

async function concurrently(count: number, operation: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await operation(next++);
  };
  await Promise.all(many(64, caller));
}

async function measure(name: string, count: number, run: () => Promise<void>): Promise<void> {
  const main = process.threadCpuUsage();
  const all = process.cpuUsage();
  const started = performance.now();
  await run();
  const seconds = (performance.now() - started) / 1000;
  const spent = ({ user, system }: { user: number; system: number }) =>
    ((user + system) / count).toFixed(1).padStart(7);
  const rate = Math.round(count / seconds)
    .toLocaleString("en")
    .padStart(9);
  console.log(
    `${name.padEnd(40)} ${rate}/s ${spent(process.threadCpuUsage(main))} µs main ${spent(process.cpuUsage(all))} µs all`,
  );
}

console.log(`a commit of this disk takes ${commitMilliseconds(folder).toFixed(2)} ms (median)`);
await measure("insertMany, 500 small rows each", 100_000, async () => {
  for (let at = 0; at < 100_000; at += 2_000) {
    await Promise.all(
      many(4, () =>
        rows.insertMany(
          many(500, () => row()),
          { ordered: false },
        ),
      ),
    );
  }
});
await measure("insertOne, 64 at a time", 20_000, () => concurrently(20_000, () => rows.insertOne(row())));
await measure("insertOne of 1 kB, 64 at a time", 20_000, () =>
  concurrently(20_000, () => rows.insertOne(row(PAD))),
);
await measure("insertOne, one after another", 300, async () => {
  for (let n = 0; n < 300; n++) await rows.insertOne(row());
});
await measure("findOne by _id, 64 at a time", 20_000, () =>
  concurrently(20_000, (n) => rows.findOne({ _id: idOf(n) })),
);
await measure("Model.find().lean(), 64 at a time", 10_000, () =>
  concurrently(10_000, (n) => model.find({ _id: idOf(n) }).lean()),
);
await measure("a poll's find of 100 rows, by row", 30_000, async () => {
  for (let n = 0; n < 300; n++) {
    const filter = { tenant_id: "tn_1", agent_id: `ag_${n % 50}`, state: "ready" };
    await rows.find(filter, { sort: { priority: -1, created_at: 1 }, limit: 100 }).toArray();
  }
});
await measure("bulkWrite of 100 guarded updates, by row", 30_000, async () => {
  for (let at = 0; at < 30_000; at += 100) {
    const update = { $set: { state: "leased", due_at: new Date() } };
    await rows.bulkWrite(
      many(100, (n) => ({ updateOne: { filter: { _id: idOf(at + n), state: "ready" }, update } })),
    );
  }
});
await measure("updateMany of 100 by _id, by row", 30_000, async () => {
  for (let at = 0; at < 30_000; at += 100) {
    const filter = { _id: { $in: many(100, (n) => idOf(at + n)) }, tenant_id: "tn_1" };
    await rows.updateMany(filter, { $set: { state: "ready" }, $unset: { due_at: 1 } });
  }
});
await measure("countDocuments of 3,000 by index", 100, async () => {
  for (let n = 0; n < 100; n++)
    await rows.countDocuments({ tenant_id: "tn_1", state: "ready", agent_id: "ag_1" });
});
await store.close();
rmSync(folder, { recursive: true });
