import { spawn } from "node:child_process";
import { patience } from "./patience.ts";

/** Less than the time limit of a test, and as that longer on a busy machine: a script that hangs is killed and its output reported. */
const LONGEST_MS = 50_000;

type ShellOptions = { cwd: string; env?: NodeJS.ProcessEnv; longestMs?: number };

/**
 * Runs a shell script as a reader of the documents does, and returns its exit code and output. It ends at the first
 * command that fails. Processes that it left running are killed.
 */
export function shell(
  script: string,
  { cwd, env = process.env, longestMs = LONGEST_MS }: ShellOptions,
): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] },
    // A separate process group, killed as one.
    detached: true,
    timeout: longestMs * patience(),
  });
  child.once("exit", () => endGroup(child.pid as number));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // Nothing is left of it.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
