import { setTimeout } from "node:timers/promises";
import { getHeapStatistics, type HeapInfo } from "node:v8";
import type { Worker } from "node:worker_threads";
import type { MongoClient } from "mongodb";
import type { Config } from "../../../config.ts";
import { memory, turns } from "../../../lib/queue/work.ts";
import { buildVersion } from "../../../lib/version.ts";
import type { GaugeName } from "../../../observability/gauges.ts";
import { Health } from "../../../observability/health.ts";
import { createLog, type Log } from "../../../observability/log.ts";
import { metrics, observeGauge, observeValue, startProcessMetrics } from "../../../observability/metrics.ts";
import type { Store } from "../../../storage/connection.ts";
import type { RecordClock } from "../../../storage/record-clock.ts";
import { DiskWatch } from "../admission/disk.ts";
import { Modes } from "../admission/modes.ts";
import { watchQueue } from "../admission/resources.ts";

/** The observability of a node. */
export interface Observability {
  log: Log;
  health: Health;
  disk: DiskWatch;
  modes: Modes;
}

/** Starts observability. The store must be open, so that `DATA_DIR` exists. */
export async function startObservability(
  config: Config,
  store: Pick<Store, "connection" | "driver" | "ping" | "space" | "onCommit" | "clock" | "queue">,
): Promise<Observability> {
  const health = new Health();
  health.add("store", async () => {
    await store.ping();
    return null;
  });
  const holdsRecord = config.MONGO_URL === null;
  const disk = new DiskWatch(config.DATA_DIR, config.MIN_FREE_DISK_MB, holdsRecord);
  await disk.start();
  if (holdsRecord) health.add("disk", () => disk.reason);
  else health.remark("disk", () => disk.reason);
  observeValue("disk_free_bytes", () => disk.freeBytes);
  observeValue("disk_min_free_bytes", () => disk.minFreeBytes);
  if (store.driver === "mongodb") observeRecord(store.connection.getClient());
  if (store.clock) observeClock(store.clock, health);
  store.onCommit((writes, seconds) => {
    metrics.storeOperations.inc(writes);
    metrics.storeCommit.observe(seconds);
  });
  const { space } = store;
  if (space)
    observeGauge("store_bytes", async () => {
      const { bytes, free } = await space();
      return { rows: bytes - free, free };
    });
  watchQueue("work", turns);
  watchQueue("memory", memory);
  if (store.queue) watchQueue("record", store.queue);
  startProcessMetrics();
  observeValue("ready", async () => ((await health.report()).status === "ready" ? 1 : 0));
  observeGauge("build_info", async () => ({
    [buildVersion()]: 1,
  }));
  const log = createLog(config);
  return { log, health, disk, modes: new Modes(log, config.LOG_LEVEL, health) };
}

/** A larger error is worth a look: at the way to the record, or at its load. */
const LARGE_MS = 100;

/** Shows how well this node knows the record's time. */
function observeClock(clock: RecordClock, health: Health): void {
  observeValue("clock_offset_seconds", () => clock.offset / 1000);
  observeValue("clock_error_seconds", () => clock.error / 1000);
  health.remark("clock", () =>
    clock.error > LARGE_MS
      ? `known to within ${Math.round(clock.error)} ms only: the record answers slowly or not at all`
      : null,
  );
}

/** A thread that is busy outside JavaScript answers late; this reading then omits its memory. */
const ANSWER_MS = 1000;

const workers = new Map<Worker, string>();

// Every thread of the process, whatever starts it. Names are fixed in the code, which bounds the label.
process.on("worker", (worker: Worker) => {
  const { threadName } = worker;
  workers.set(worker, !threadName || threadName === "WorkerThread" ? "other" : threadName);
  worker.once("exit", () => workers.delete(worker));
});

/** One reading serves all gauges of a scrape. */
let reading: Promise<[thread: string, heap: HeapInfo][]> | undefined;

function heaps(): Promise<[string, HeapInfo][]> {
  reading ??= readHeaps().finally(() => {
    reading = undefined;
  });
  return reading;
}

async function readHeaps(): Promise<[string, HeapInfo][]> {
  const readings = [...workers].map(async ([worker, name]) => [name, await readHeap(worker)] as const);
  const answered = (await Promise.all(readings)).filter(
    (each): each is [string, HeapInfo] => each[1] !== null,
  );
  return [["main", getHeapStatistics()], ...answered];
}

async function readHeap(worker: Worker): Promise<HeapInfo | null> {
  // Rejects if the thread has ended meanwhile.
  const heap = worker.getHeapStatistics().catch(() => null);
  return Promise.race([heap, setTimeout(ANSWER_MS, null, { ref: false })]);
}

function gauge(name: GaugeName, pick: (heap: HeapInfo) => number): void {
  observeGauge(name, async () => {
    const sums: Record<string, number> = {};
    for (const [thread, heap] of await heaps()) sums[thread] = (sums[thread] ?? 0) + pick(heap);
    return sums;
  });
}

gauge("threads", () => 1);
gauge("thread_heap_used_bytes", (heap) => heap.used_heap_size);
gauge("thread_heap_size_bytes", (heap) => heap.total_heap_size);
gauge("thread_external_bytes", (heap) => heap.external_memory);

/** Commands that are counted by name; the others count together. */
const COMMANDS = new Set([
  "find",
  "getMore",
  "insert",
  "update",
  "delete",
  "findAndModify",
  "aggregate",
  "count",
]);

/** Shows the latency of MongoDB's commands, and the use of the connections to it. */
function observeRecord(client: MongoClient): void {
  const observe = (outcome: "ok" | "error") => (event: { commandName: string; duration: number }) => {
    const command = COMMANDS.has(event.commandName) ? event.commandName : "other";
    metrics.recordSeconds.observe({ command, outcome }, event.duration / 1000);
  };
  client.on("commandSucceeded", observe("ok"));
  client.on("commandFailed", observe("error"));
  observeConnections(client);
}

/** A connection in the driver's events. */
interface Named {
  address: string;
  connectionId: number | string;
}

/** Counts the connections of all servers of the record together. */
function observeConnections(client: MongoClient): void {
  const open = new Set<string>();
  const used = new Set<string>();
  let waiting = 0;
  const nameOf = ({ address, connectionId }: Named) => `${address} ${connectionId}`;
  client.on("connectionCreated", (event) => open.add(nameOf(event)));
  client.on("connectionClosed", (event) => {
    open.delete(nameOf(event));
    used.delete(nameOf(event));
  });
  client.on("connectionCheckOutStarted", () => waiting++);
  client.on("connectionCheckedOut", (event) => {
    waiting = Math.max(0, waiting - 1);
    // Also those from before anybody listened.
    open.add(nameOf(event));
    used.add(nameOf(event));
    metrics.recordWait.observe(event.durationMS / 1000);
  });
  client.on("connectionCheckOutFailed", () => {
    waiting = Math.max(0, waiting - 1);
    metrics.recordNoConnection.inc();
  });
  client.on("connectionCheckedIn", (event) => used.delete(nameOf(event)));
  observeGauge("record_connections", async () => ({
    used: used.size,
    idle: open.size - used.size,
  }));
  observeValue("record_connections_limit", () => client.options.maxPoolSize);
  observeValue("record_connections_waiting", () => waiting);
}
