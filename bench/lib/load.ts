import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Options } from "autocannon";

const CLOCK_TICKS_PER_SECOND = 100;

export interface LoadResult {
  requests: number;
  seconds: number;
  requestsPerSecond: number;
  /** Answers by status code. */
  statuses: Record<string, { count: number }>;
  errors: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** CPU microseconds of the server per request, all threads. */
  serverMicrosPerRequest: number;
  /** Milliseconds from the last answer until `finished`. */
  finishedAfter: number;
  /** Share of one core that the generator used. */
  generatorCores: number;
}

/**
 * Sends load to a server and returns figures of both sides (CPU of the server by its process id). Measures until the
 * work is `finished`, because work after the last answer costs as well.
 */
export async function load(
  pid: number,
  options: Options,
  finished: () => Promise<unknown> = async () => {},
): Promise<LoadResult> {
  const cpuBefore = cpuSeconds(pid);
  const script = join(import.meta.dirname, "cannon.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)], {
    maxBuffer: 1 << 24,
  });
  const result = JSON.parse(stdout) as LoadResult & { cpu_seconds: number };
  const ended = performance.now();
  await finished();
  return {
    ...result,
    finishedAfter: performance.now() - ended,
    requestsPerSecond: result.requests / result.seconds,
    serverMicrosPerRequest: ((cpuSeconds(pid) - cpuBefore) / result.requests) * 1e6,
    generatorCores: result.cpu_seconds / result.seconds,
  };
}

/** CPU time of a process, all threads, in seconds (Linux: proc(5), stat fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

/** CPU time of a process and of all that it has started and still runs. */
export function cpuSecondsWithChildren(pid: number): number {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) =>
    readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + cpuSecondsWithChildren(child), cpuSeconds(pid));
}

/** Resident memory of a process in MB: now, or the most it ever had (proc(5), VmRSS and VmHWM). */
export function residentMegabytes(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const line = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) / 1024;
}
