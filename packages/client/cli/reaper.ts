import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(import.meta.url);
const GRACE_MS = 5000;

/** Groups of processes that are being ended: when a process has ended, nothing says any more what it had started. */
const ending = new Map<number, Set<number>>();

/** Sends a signal to a process started as `detached`, and to all that it started: those that have not ended and allow it. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  const groups = new Set([pid, ...(ending.get(pid) ?? []), ...groupsUnder(pid)]);
  if (signal === "SIGKILL") ending.delete(pid);
  else ending.set(pid, groups);
  for (const group of groups) signalGroup(group, signal);
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no process groups.
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    // Another user's, as of a command that `sudo` started, is out of reach.
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** Returns the groups that a process and its descendants lead, on Linux: coding tools start each command as one. */
function groupsUnder(pid: number): number[] {
  if (!existsSync(`/proc/${pid}/stat`)) return [];
  const under = new Set([pid]);
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf);
  for (let size = 0; size < under.size; ) {
    size = under.size;
    for (const { id, parent } of all) if (under.has(parent)) under.add(id);
  }
  return all.filter(({ id, group }) => id === group && under.has(id)).map(({ id }) => id);
}

function statOf(id: string): { id: number; parent: number; group: number }[] {
  try {
    // After the program's name, which may contain anything: the state, the parent and the group.
    const [, parent, group] = readFileSync(`/proc/${id}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return [{ id: Number(id), parent: Number(parent), group: Number(group) }];
  } catch {
    // It has ended.
    return [];
  }
}

/**
 * A process that outlives this one, however it dies, and then ends the commands that it was given: without their
 * supervisor their events are given to another.
 */
export class Reaper {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = spawn(process.execPath, [FILE], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    this.#process.stdin?.on("error", () => {});
    this.#process.on("error", () => {});
    this.#process.unref();
  }

  /** Returns a function to call when the process has ended. */
  watch(pid: number): () => void {
    this.#process.stdin?.write(`+${pid}\n`);
    return () => void this.#process.stdin?.write(`-${pid}\n`);
  }

  stop(): void {
    this.#process.stdin?.end();
  }
}

/** Runs in the process itself: its input ends with the process that started it. */
async function reap(): Promise<void> {
  const pids = new Set<number>();
  for await (const line of createInterface({ input: process.stdin })) {
    const pid = Number(line.slice(1));
    if (line.startsWith("+")) pids.add(pid);
    else pids.delete(pid);
  }
  for (const pid of pids) signalTree(pid, "SIGTERM");
  if (pids.size > 0) await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  for (const pid of pids) signalTree(pid, "SIGKILL");
}

if (process.argv[1] === FILE) await reap();
