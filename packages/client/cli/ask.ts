import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { safe, write } from "./colour.ts";
import { UsageError } from "./usage.ts";

interface How {
  /** What is typed is not shown. */
  hidden?: boolean;
}

/** Asks a person. @throws UsageError if none is there to answer */
export async function ask(
  question: string,
  signal: AbortSignal,
  { hidden = false }: How = {},
): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`${question.split(":")[0]} is missing.`);
  const output = hidden ? new Writable({ write: (_, __, done) => done() }) : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl-C in a prompt reaches only it.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  // Only now: the terminal itself would show what is typed before.
  if (hidden) write(process.stderr, question);
  try {
    return (await lines.question(safe(question), { signal })).trim();
  } finally {
    lines.close();
    if (hidden) write(process.stderr, "\n");
  }
}
