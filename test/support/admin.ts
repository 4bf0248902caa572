import { join } from "node:path";
import { admin } from "../../bin/admin.ts";
import { COMPILED, startChild } from "./child.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Runs the operator's command line in this process, against a server: what opens a store ends only with its process. Gives its exit code and what it printed, parsed when it is JSON. */
export async function run(dataDir: string, command: string, env: Record<string, string> = {}) {
  const { PATH = "", HOME = "" } = process.env;
  let printed = "";
  const write = (text: string) => {
    printed += text;
    return true;
  };
  const given = { PATH, HOME, DATA_DIR: dataDir, ...env };
  const code = await admin(wordsOf(command), { write } as unknown as NodeJS.WritableStream, given).then(
    () => 0,
    (err: Error) => {
      write(`${err.message}\n`);
      return 1;
    },
  );
  return answerOf(code, printed);
}

/** The same in a separate process. */
export async function runProcess(dataDir: string, command: string, env: Record<string, string> = {}) {
  const { PATH = "", HOME = "" } = process.env;
  const child = await startChild(process.execPath, ["bin/server.js", "admin", ...wordsOf(command)], {
    cwd: ROOT,
    env: { PATH, HOME, ...COMPILED, DATA_DIR: dataDir, ...env },
  });
  const { code } = await child.exited;
  return answerOf(code, child.output());
}

const wordsOf = (command: string) => command.split(" ").filter(Boolean);

function answerOf(code: number | null, output: string) {
  // Progress comes before it.
  const [printed] = /^[[{].*/ms.exec(output) ?? [];
  return { code, output, result: code === 0 && printed ? JSON.parse(printed) : null };
}
