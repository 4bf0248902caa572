import { getHeapStatistics, type HeapInfo } from "node:v8";
import type { Worker } from "node:worker_threads";
import { observeGauge } from "./metrics.ts";

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
  const asked = [...workers].map(async ([worker, name]) => [name, await readHeap(worker)] as const);
  const answered = (await Promise.all(asked)).filter((each): each is [string, HeapInfo] => each[1] !== null);
  return [["main", getHeapStatistics()], ...answered];
}

async function readHeap(worker: Worker): Promise<HeapInfo | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ANSWER_MS, null);
  });
  // Rejects if the thread has ended meanwhile.
  const heap = worker.getHeapStatistics().catch(() => null);
  return Promise.race([heap, late]).finally(() => clearTimeout(timer));
}

function gauge(name: string, help: string, pick: (heap: HeapInfo) => number): void {
  observeGauge(name, help, "thread", async () => {
    const sums: Record<string, number> = {};
    for (const [thread, heap] of await heaps()) sums[thread] = (sums[thread] ?? 0) + pick(heap);
    return sums;
  });
}

gauge("threads", "Threads, by purpose", () => 1);
gauge("thread_heap_used_bytes", "JavaScript heap in use, by thread", (heap) => heap.used_heap_size);
gauge("thread_heap_size_bytes", "JavaScript heap reserved, by thread", (heap) => heap.total_heap_size);
gauge(
  "thread_external_bytes",
  "Buffers outside the JavaScript heap, by thread",
  (heap) => heap.external_memory,
);
