import { type StdioOptions, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { signalTree } from "./reaper.ts";

/** Between asking a command to end and ending it. */
const GRACE_MS = 5000;
/** For output that is under way when a command ends. Processes that it left may keep that open for ever. */
const LAST_OUTPUT_MS = 1000;

interface Run {
  command: readonly [string, ...string[]];
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** Whether the command is a line for the shell. */
  shell?: true | undefined;
  /** Standard input. */
  input?: string;
  /** Aborts with the reason: the command is ended with all that it started. */
  signal: AbortSignal;
  /** Default: GRACE_MS. */
  graceMs?: number;
  /** Called with its process id when it starts. Returns what to call when it has ended. */
  started?: (pid: number) => () => void;
  /** Gets what it writes to standard output: all of it, however long a stream takes. */
  stdout: ((chunk: Buffer) => void) | Writable;
  /** Called with what it writes to standard error; without it that is ignored. */
  stderr?: (chunk: Buffer) => void;
}

/** How a command ended. */
export interface Ended {
  code: number | null;
  killedBy: NodeJS.Signals | null;
  /** Why it was ended: whatever its code, it did not end by itself. */
  cause?: unknown;
}

/**
 * Runs a command in a new process group, which ends with it.
 *
 * @throws Error if it cannot be started
 */
export function runCommand({ command: [program, ...args], input = "", signal, ...run }: Run): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // Never this program's own: what the command leaves behind would keep that open.
    const stdio: StdioOptions = ["pipe", "pipe", run.stderr ? "pipe" : "ignore"];
    const { cwd, env, shell } = run;
    const child = spawn(program, args, { cwd, env, shell, stdio, detached: true });
    const { pid, stdin, stdout, stderr } = child;
    child.on("error", reject);
    if (pid === undefined) return;
    const forget = run.started?.(pid);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended: Ended = { code: null, killedBy: null };
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      child.off("exit", onExit).off("close", finish);
      forget?.();
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
      // One that not even SIGKILL ends is left to the system.
      child.unref();
      resolve(ended);
    };
    const finishSoon = () => {
      clearTimeout(timer);
      // A reader may be slow, but not hold up what was ended.
      const isRead = () => !stdout?.isPaused() || "cause" in ended;
      timer = setTimeout(() => (isRead() ? finish() : finishSoon()), LAST_OUTPUT_MS);
    };
    const end = () => {
      ended.cause = signal.reason;
      signalTree(pid, "SIGTERM");
      timer = setTimeout(() => {
        signalTree(pid, "SIGKILL");
        ended.killedBy = "SIGKILL";
        finishSoon();
      }, run.graceMs ?? GRACE_MS);
    };
    const onExit = (code: number | null, killedBy: NodeJS.Signals | null) => {
      signal.removeEventListener("abort", end);
      ended = { ...ended, code, killedBy };
      // Processes that it left would work on an event that is settled.
      signalTree(pid, "SIGKILL");
      finishSoon();
    };
    child.on("exit", onExit).on("close", finish);
    const write = (to: Writable) => (chunk: Buffer) => {
      if (to.write(chunk)) return;
      stdout?.pause();
      to.once("drain", () => stdout?.resume());
    };
    stdout?.on("data", typeof run.stdout === "function" ? run.stdout : write(run.stdout));
    if (run.stderr) stderr?.on("data", run.stderr);
    // It need not read its input.
    stdin?.on("error", () => {});
    stdin?.end(input);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
