import { constants } from "node:os";
import type { Writable } from "node:stream";
import { GiveUp, Interrupted } from "../handler.ts";
import { LineSplitter } from "../lines.ts";
import { after, pause } from "../support.ts";
import type { Reaper } from "./reaper.ts";
import { runCommand } from "./run-command.ts";
import { Failure } from "./usage.ts";

/** A command that failed with an event. Its message is the reason of the rejection. */
export class CommandFailure extends Error {
  /** The text to show: the command's lines have been shown. */
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

/** A command cannot work now, with whatever event. */
export class TryLater extends Error {
  readonly how: string;

  constructor(how: string) {
    super();
    this.how = how;
  }
}

/** The exit code EX_DATAERR of sysexits.h: the event itself is wrong, and no retry can handle it. */
const HOPELESS = 65;
/** In characters: showing and keeping lines has a budget. */
const LONGEST_LINE = 1_048_576;
/** Between this program's end and that of a command by the same signal, sent to both: it may hear of it later. */
const SAME_MOMENT_MS = 300;
const { SIGINT, SIGTERM } = constants.signals;

interface Job {
  command: readonly [string, ...string[]];
  /** Standard input. */
  input: string;
  /** Names the event. */
  about: string;
  /** Whether the command is a line for the shell, which then names it. */
  shell?: true;
  cwd?: string | undefined;
  env: NodeJS.ProcessEnv;
  /** Aborts with the reason: the command is ended with all that it started. */
  signal: AbortSignal;
  /** Aborts when this program is asked to end. */
  ending: AbortSignal;
  /** Called with each line of its output; of its standard error only, if there is a `stdout`. */
  show: (line: string) => void;
  /** Gets its standard output. */
  stdout?: Writable;
  /** Exit codes that say to try later. */
  pauseOn?: readonly number[];
  /** Returns why it failed, by what it has written; empty if that is not to be told. */
  reason: () => string;
  /** Called with what it writes to standard output. */
  collect?: ((chunk: Uint8Array) => void) | undefined;
  /** Called with how it ended, or why it was not started, before the promise settles. */
  ended?: (how: string) => void;
}

/**
 * Runs a command with an event, and settles the event by how the command ended.
 *
 * @throws CommandFailure with its reason if it fails, or why it cannot be started; GiveUp with its reason if no
 *   retry can succeed; TryLater if it says so; the signal's reason, once the command has ended, if the signal aborted;
 *   Interrupted if what asked this program to end has ended the command too
 */
export async function supervise(reaper: Reaper, job: Job): Promise<void> {
  const { command, about, signal, show } = job;
  const [name] = command;
  signal.throwIfAborted();
  const splitters = [new LineSplitter(LONGEST_LINE), new LineSplitter(LONGEST_LINE)] as const;
  const showFrom = (splitter: LineSplitter) => (chunk: Buffer) => splitter.take(chunk).forEach(show);
  const [fromStdout, fromStderr] = [showFrom(splitters[0]), showFrom(splitters[1])];
  const stdout = (chunk: Buffer) => {
    fromStdout(chunk);
    job.collect?.(chunk);
  };
  const ended = await runCommand({
    ...{
      command,
      shell: job.shell,
      cwd: job.cwd,
      env: job.env,
      input: job.input,
      signal,
      stderr: fromStderr,
    },
    stdout: job.stdout ?? stdout,
    started: (pid) => reaper.watch(pid),
  }).catch(({ message }: Error) => {
    const how = `was not started: ${message}`;
    job.ended?.(how);
    throw new CommandFailure(how, `${about}: ${name} ${how}`);
  });
  for (const splitter of splitters) splitter.end().forEach(show);
  const { code, killedBy } = ended;
  const how = `ended with ${killedBy ?? code}`;
  job.ended?.(how);
  // Its code says nothing of the event: a program that is asked to end may well end with 0.
  if ("cause" in ended) throw ended.cause;
  if (code === 0) return;
  if (code !== null && job.pauseOn?.includes(code)) throw new TryLater(how);
  // A shell reports the signal that ended its command as 128 and its number.
  if (killedBy !== null || [SIGINT, SIGTERM].includes((code ?? 0) - 128)) {
    await pause(SAME_MOMENT_MS, job.ending).catch(() => {});
    if (job.ending.aborted) throw new Interrupted();
  }
  const Kind = code === HOPELESS ? HopelessFailure : CommandFailure;
  throw new Kind(job.reason() || `${name} ${how}`, `${about}: ${name} ${how}`);
}

/** Returns a signal for commands that aborts a time after this program was asked to end, and what ends the wait. */
export function graceAfter(ending: AbortSignal, graceMs: number): { over: AbortSignal; cancel: () => void } {
  const over = new AbortController();
  let cancel = () => {};
  const begin = () => {
    cancel = after(graceMs, () => over.abort(new Interrupted()));
  };
  if (ending.aborted) begin();
  else ending.addEventListener("abort", begin, { once: true });
  return { over: over.signal, cancel: () => cancel() };
}
