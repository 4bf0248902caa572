import { type ChildProcess, spawn } from "node:child_process";
import { join, relative, sep } from "node:path";
import type { Readable } from "node:stream";
import type { FileResult } from "./reporter.ts";

export interface SuiteResult {
  files: FileResult[];
  /** What went wrong besides failed tests: over budget, a file that never ran, jest itself. */
  problems: string[];
  seconds: number;
}

interface SuiteOptions {
  /** Where jest's own output goes. */
  output?: "inherit" | "ignore";
  /** Settings for the tests, besides those of this process. */
  env?: Record<string, string>;
}

const running = new Set<ChildProcess>();

/** Runs the test files in one jest, and stops it with all it started when the budget is used up. */
export async function runSuite(
  root: string,
  files: string[],
  budgetSeconds: number,
  { output = "inherit", env = {} }: SuiteOptions = {},
): Promise<SuiteResult> {
  const started = performance.now();
  const jest = startJest(root, files, { output, env });
  let lines = "";
  (jest.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
    lines += text;
  });
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    stop(jest);
  }, budgetSeconds * 1000);
  const ended = await new Promise<string>((resolve) => {
    jest.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  clearTimeout(timer);
  running.delete(jest);

  const results = parseResults(lines, root);
  const ran = new Set(results.map(({ file }) => file));
  const problems = files.filter((file) => !ran.has(file)).map((file) => `${file} did not finish`);
  if (over) problems.push(`over the budget of ${budgetSeconds} s`);
  else if (ended !== "exit code 0" && results.every(({ failed }) => failed.length === 0)) {
    problems.push(`jest ended with ${ended}`);
  }
  return { files: results, problems, seconds: (performance.now() - started) / 1000 };
}

/** Stops whatever `runSuite` has running, for when the test command itself is stopped. */
export function stopSuites(): void {
  for (const jest of running) stop(jest);
}

function startJest(root: string, files: string[], { output, env }: Required<SuiteOptions>): ChildProcess {
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  // The caller has chosen the files: jest's own pattern must not leave any of them out.
  const choice = ["--testMatch", "<rootDir>/test/**/*.ts", "--runTestsByPath", ...files];
  const reporters = ["--reporters", "default", "--reporters", join(root, "test/support/reporter.ts")];
  const jest = spawn(
    process.execPath,
    [...flags, join(root, "node_modules/jest/bin/jest.js"), ...reporters, ...choice],
    // A process group of its own, so that a stop reaches the workers and all that the tests started.
    { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", output, output, "pipe"], detached: true },
  );
  running.add(jest);
  return jest;
}

function stop(jest: ChildProcess): void {
  try {
    if (jest.pid) process.kill(-jest.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function parseResults(lines: string, root: string): FileResult[] {
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as FileResult)
    .map((result) => ({ ...result, file: relative(root, result.file).split(sep).join("/") }));
}
