import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { safe, write } from "./colour.ts";
import { UsageError } from "./usage.ts";

/** Asks a person. @throws UsageError if none is there to answer */
export async function ask(
  question: string,
  signal: AbortSignal,
  output: NodeJS.WritableStream = process.stderr,
): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`${question.split(":")[0]} is missing.`);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl-C in a prompt reaches only it.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return (await lines.question(safe(question), { signal })).trim();
  } finally {
    lines.close();
  }
}

/** Asks without showing what is typed. */
export async function askHidden(question: string, signal: AbortSignal): Promise<string> {
  write(process.stderr, question);
  try {
    return await ask("", signal, new Writable({ write: (_, __, done) => done() }));
  } finally {
    write(process.stderr, "\n");
  }
}
