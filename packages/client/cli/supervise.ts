import { spawn } from "node:child_process";
import { GiveUp } from "../handler.ts";
import { LineSplitter } from "../lines.ts";
import { type Reaper, signalTree } from "./reaper.ts";
import { Failure } from "./usage.ts";

/** A command that failed with an event. Its message is the reason of the rejection. */
export class CommandFailure extends Error {
  /** What to show: the command's own lines have been shown. */
  readonly shown: Failure;

  constructor(reason: string, shown: string) {
    super(reason);
    this.shown = new Failure(shown, "command_failed");
  }
}

/** The same, if no retry can succeed. */
class HopelessFailure extends GiveUp {
  readonly shown: Failure;

  constructor(reason: string, shown: string) {
    super(reason);
    this.shown = new Failure(`${shown}: dead-lettered`, "command_failed");
  }
}

/** Returns what to show of a problem of a listener. */
export function shownOf(problem: unknown): Error {
  const isCommands = problem instanceof CommandFailure || problem instanceof HopelessFailure;
  return isCommands ? problem.shown : (problem as Error);
}

/** The exit code EX_DATAERR of sysexits.h: the event itself is wrong, and no retry can handle it. */
const HOPELESS = 65;
/** In characters. What shows and keeps lines has a budget. */
const LONGEST_LINE = 1_048_576;
/** Between asking a command to end and ending it. */
const GRACE_MS = 5000;
interface Job {
  command: readonly [string, ...string[]];
  /** Standard input. */
  input: string;
  /** Names the event. */
  about: string;
  cwd?: string | undefined;
  env: NodeJS.ProcessEnv;
  /** Aborts with the reason: the command is ended with all that it started. */
  signal: AbortSignal;
  /** Called with each line of its output. */
  show: (line: string) => void;
  /** Returns why it failed, by what it has written; empty if that is not to be told. */
  reason: () => string;
  /** Called with what it writes to standard output. */
  collect?: ((chunk: Uint8Array) => void) | undefined;
  /** Called with how it ended, or why it was not started, before the promise settles. */
  ended: (how: string) => void;
}

/**
 * Runs a command in a process group of its own, which ends with it.
 *
 * @throws CommandFailure with its reason if it fails, or why it cannot be started; GiveUp with its reason if no
 *   retry can succeed; the signal's reason, once the command has ended, if the signal aborted
 */
export function supervise(reaper: Reaper, job: Job): Promise<void> {
  const { command, input, about, cwd, signal, show } = job;
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const fail = (
      how: string,
      reason = how,
      Kind: typeof CommandFailure | typeof HopelessFailure = CommandFailure,
    ) => reject(new Kind(reason, `${about}: ${program} ${how}`));
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(program, args, { cwd, env: job.env, detached: true });
    const { pid } = child;
    child.on("error", ({ message }) => {
      const how = `was not started: ${message}`;
      job.ended(how);
      fail(how);
    });
    if (pid === undefined) return;
    const forget = reaper.watch(pid);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      signalTree(pid, "SIGTERM");
      timer = setTimeout(() => signalTree(pid, "SIGKILL"), GRACE_MS);
    };
    signal.addEventListener("abort", end, { once: true });
    const splitters = [child.stdout, child.stderr].map((stream) => {
      const splitter = new LineSplitter(LONGEST_LINE);
      stream.on("data", (piece: Buffer) => splitter.take(piece).forEach(show));
      return splitter;
    });
    if (job.collect) child.stdout.on("data", job.collect);
    // What it leaves behind would keep its output open, and work on an event that is settled.
    child.on("exit", () => signalTree(pid, "SIGKILL"));
    child.on("close", (code, killedBy) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      forget();
      for (const splitter of splitters) splitter.end().forEach(show);
      const how = `ended with ${killedBy ?? code}`;
      job.ended(how);
      if (code === 0) return resolve();
      if (signal.aborted) return reject(signal.reason);
      fail(how, job.reason() || `${program} ${how}`, code === HOPELESS ? HopelessFailure : CommandFailure);
    });
    // It need not read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
