import { join } from "node:path";
import { COMPILED, startChild } from "./child.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Runs the command line. Gives its exit code and what it printed, parsed when it is JSON. */
export async function run(dataDir: string, command: string, env: Record<string, string> = {}) {
  const { PATH = "", HOME = "" } = process.env;
  const child = await startChild(
    process.execPath,
    ["bin/server.js", "admin", ...command.split(" ").filter(Boolean)],
    { cwd: ROOT, env: { PATH, HOME, ...COMPILED, DATA_DIR: dataDir, ...env } },
  );
  const { code } = await child.exited;
  const output = child.output();
  // Progress comes before it.
  const [printed] = /^[[{].*/ms.exec(output) ?? [];
  return { code, output, result: code === 0 && printed ? JSON.parse(printed) : null };
}
