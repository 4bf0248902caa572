import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMPILED } from "./child.ts";

const CLI = join(import.meta.dirname, "../../packages/client/cli.ts");

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  ended: Promise<Ran>;
  /** Returns its output so far. */
  out(): string;
  err(): string;
  kill(signal: NodeJS.Signals): void;
}

/** The command line in an empty folder, with a separate environment. */
export interface Cli {
  folder: string;
  run(args: string[], more?: { env?: Record<string, string>; input?: string }): Promise<Ran>;
  /** Returns how a process of it is started. */
  command(args: string[]): { command: [string, ...string[]]; env: Record<string, string> };
  /** Starts it and goes on. @param more `open`: its input does not end */
  start(args: string[], more?: { env?: Record<string, string>; input?: string; open?: true }): Running;
  /** Ends what still runs, and removes the folder. */
  remove(): Promise<void>;
}

export function newCli(env: Record<string, string> = {}): Cli {
  const folder = mkdtempSync(join(tmpdir(), "sensorium-cli-"));
  const running = new Set<Running>();
  const own = { PATH: process.env.PATH as string, HOME: folder, ...COMPILED, ...env };
  const start: Cli["start"] = (args, more = {}) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, env: { ...own, ...more.env } });
    let out = "";
    let err = "";
    child.stdout.on("data", (piece) => {
      out += piece;
    });
    child.stderr.on("data", (piece) => {
      err += piece;
    });
    // One that has already ended reads nothing.
    child.stdin.on("error", () => {});
    child.stdin.write(more.input ?? "");
    if (!more.open) child.stdin.end();
    const ended = new Promise<Ran>((resolve) => child.on("close", (code) => resolve({ code, out, err })));
    const it: Running = { ended, out: () => out, err: () => err, kill: (signal) => void child.kill(signal) };
    running.add(it);
    return it;
  };
  return {
    folder,
    command: (args) => ({ command: [process.execPath, CLI, ...args], env: own }),
    start,
    run: (args, more) => start(args, more).ended,
    async remove() {
      for (const it of running) it.kill("SIGKILL");
      await Promise.all(Array.from(running, ({ ended }) => ended));
      rmSync(folder, { recursive: true });
    },
  };
}
