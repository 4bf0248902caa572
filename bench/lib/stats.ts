import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The nearest-rank percentile; `p` from 0 to 1. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN;
}

const COMMITS = 200;

/** This disk's median time of a 4 KB append and fdatasync, in milliseconds: the minimum cost of a commit. */
export function commitMilliseconds(folder: string): number {
  const file = join(folder, "commit.probe");
  const fd = openSync(file, "w");
  const page = Buffer.alloc(4096, 1);
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    const start = performance.now();
    writeSync(fd, page);
    fdatasyncSync(fd);
    times.push(performance.now() - start);
  }
  closeSync(fd);
  rmSync(file);
  return median(times);
}

/**
 * Measures each subject in turn, round after round, so that other work on the machine affects all of them alike.
 *
 * @returns the results of each subject
 */
export async function inTurns<T>(rounds: number, subjects: (() => Promise<T>)[]): Promise<T[][]> {
  const results: T[][] = subjects.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, subject] of subjects.entries()) results[i]?.push(await subject());
  }
  return results;
}
