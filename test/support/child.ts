import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { patience } from "./patience.ts";
import { settle } from "./settle.ts";

type ExitStatus = { code: number | null; signal: NodeJS.Signals | null };

/** A child process whose output is kept, that can be waited for and that can be stopped for certain. */
export interface Child {
  pid: number;
  /** Everything it has written so far, standard output and standard error as they came. */
  output(): string;
  /** The first match of `pattern` in the output. Fails when the process ends or `within` ms (45,000; longer on a busy machine) pass first. */
  find(pattern: RegExp, within?: number): Promise<RegExpMatchArray>;
  /** Suspends it with its connections open; returns when none of its threads runs any more. */
  pause(): Promise<void>;
  resume(): void;
  /** Writes to its standard input. */
  type(text: string): void;
  /** Sends a signal (or closes its input), waits for the end; after `within` ms (30,000) SIGKILL and an error. */
  end(how: NodeJS.Signals | "eof", within?: number): Promise<ExitStatus>;
  exited: Promise<ExitStatus>;
}

/** For a program that is started many times: without it Node strips the types of each of its modules every time. */
export const COMPILED = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/sensorium/tests"),
};

/** Children that have not ended, with the promise of their end. */
const running = new Map<ChildProcess, Promise<ExitStatus>>();
let areRefused = false;

/** Ends all children that run, and refuses to start further ones. */
export async function endChildren(): Promise<void> {
  areRefused = true;
  const ends = [...running].map(([child, exited]) => end(child, exited, "SIGTERM", ENDED_WITHIN_MS));
  await Promise.allSettled(ends);
}

/** Kills all children that run, where a process that ends cannot wait for them. */
export function killChildren(): void {
  for (const child of running.keys()) child.kill("SIGKILL");
}

const ENDED_WITHIN_MS = 10_000;

/** Starts `command`. @throws Error when it cannot be started at all. */
export async function startChild(
  command: string,
  args: string[],
  options: SpawnOptions = {},
): Promise<Child> {
  if (areRefused) throw new Error(`${command} is not started: all children have been ended`);
  const process = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const started = new Promise<void>((resolve, reject) => {
    process.once("spawn", resolve);
    process.once("error", reject);
  });
  const exited = new Promise<ExitStatus>((resolve) => {
    process.once("close", (code, signal) => resolve({ code, signal }));
  });
  running.set(process, exited);
  for (const event of ["close", "error"]) process.once(event, () => running.delete(process));
  let output = "";
  for (const stream of [process.stdout, process.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  await started;
  return {
    pid: process.pid as number,
    output: () => output,
    find: (pattern, within = 45_000) => findInOutput(process, () => output, exited, pattern, within),
    pause: async () => {
      process.kill("SIGSTOP");
      await settle(() => isStopped(process.pid as number), { what: `${command} to stop` });
    },
    resume: () => void process.kill("SIGCONT"),
    type: (text) => void process.stdin?.write(text),
    end: (how, within = 30_000) => end(process, exited, how, within),
    exited,
  };
}

/** Where there is no /proc to look in, a stop counts as done: the threads that still run are done in a moment. */
function isStopped(pid: number): boolean {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return true;
  return globSync(`${threads}/*/stat`).every((file) => /^.*\) T/.test(readFileSync(file, "utf8")));
}

async function findInOutput(
  process: ChildProcess,
  output: () => string,
  exited: Promise<ExitStatus>,
  pattern: RegExp,
  within: number,
): Promise<RegExpMatchArray> {
  const name = process.spawnargs.join(" ");
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = output().match(pattern);
      if (match) finish(() => resolve(match));
      return match !== null;
    };
    const fail = (why: string) =>
      finish(() => reject(new Error(`${name}: ${why} before ${pattern} was printed:\n${output()}`)));
    const allowed = within * patience();
    const timer = setTimeout(fail, allowed, `${Math.round(allowed)} ms passed`);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      process.stdout?.off("data", look);
      process.stderr?.off("data", look);
      settle();
    };
    process.stdout?.on("data", look);
    process.stderr?.on("data", look);
    exited.then(({ code, signal }) => look() || fail(`ended with ${signal ?? `exit code ${code}`}`));
    look();
  });
}

async function end(
  process: ChildProcess,
  exited: Promise<ExitStatus>,
  how: NodeJS.Signals | "eof",
  within: number,
): Promise<ExitStatus> {
  const name = process.spawnargs.join(" ");
  if (how === "eof") process.stdin?.end();
  else process.kill(how);
  const status = await soon(exited, within * patience());
  if (status) return status;
  const isOver = process.exitCode !== null || process.signalCode !== null;
  process.kill("SIGKILL");
  const closed = await soon(exited, CLOSED_WITHIN_MS);
  if (isOver)
    throw new Error(`${name} ended by ${how}, but what it had started goes on, and holds its output`);
  const why = closed ? "" : "; what it had started goes on, and holds its output";
  throw new Error(`${name} did not end within ${within} ms of ${how}${why}`);
}

const CLOSED_WITHIN_MS = 2000;

/** Resolves with the promise's value, or null after `ms`. */
async function soon<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
