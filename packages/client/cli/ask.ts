import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { safe, write } from "./colour.ts";
import type { Context } from "./command.ts";
import { UsageError } from "./usage.ts";

interface How {
  /** Does not show the typed text. */
  hidden?: boolean;
}

/** Asks a person. @throws UsageError if none is there to answer */
export async function ask(
  question: string,
  { host: { stdin, stderr }, signal }: Context,
  { hidden = false }: How = {},
): Promise<string> {
  if (!stdin.isTTY) throw new UsageError(`${question.split(":")[0]} is missing.`);
  const output = hidden ? new Writable({ write: (_, __, done) => done() }) : stderr;
  const lines = createInterface({ input: stdin, output, terminal: true });
  // Ctrl-C in a prompt reaches only it.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  // Only now: the terminal itself would show what is typed before.
  if (hidden) write(stderr, question);
  try {
    return (await lines.question(safe(question), { signal })).trim();
  } finally {
    lines.close();
    if (hidden) write(stderr, "\n");
  }
}
