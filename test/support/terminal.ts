import { spawn } from "node:child_process";
import type { Cli } from "./cli.ts";
import { settle } from "./settle.ts";

/** Runs a command in a pseudo-terminal, joined to its own input and output. */
const PTY = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** The command line in a terminal, as a person has it before them. The test file says `@needs python`. */
export interface Terminal {
  /** Waits until the terminal shows a text after what was shown before. */
  shows(text: string): Promise<void>;
  /** Types a line. */
  type(line: string): void;
  /** Returns its exit code and everything the terminal showed. */
  ended: Promise<{ code: number | null; shown: string }>;
}

/** @param cli whose folder and environment it has */
export function openTerminal(cli: Cli, args: string[]): Terminal {
  const { command, env } = cli.command(args);
  const child = spawn("python3", ["-c", PTY, ...command], { cwd: cli.folder, env });
  let shown = "";
  let seen = 0;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      shown += text;
    });
  child.stdin.on("error", () => {});
  return {
    async shows(text) {
      await settle(() => shown.includes(text, seen), { what: `the terminal to show “${text}”: ${shown}` });
      seen = shown.indexOf(text, seen) + text.length;
    },
    type: (line) => void child.stdin.write(`${line}\r`),
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, shown }))),
  };
}
