import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import type { Readable } from "node:stream";
import { COMPILED } from "./child.ts";
import { CPU_FILE } from "./cpu.ts";
import { isLonger } from "./longer.ts";
import type { FileResult } from "./reporter.ts";

export interface SuiteResult {
  files: FileResult[];
  /** Problems besides failed tests: over budget, a file that never ran, jest itself. */
  problems: string[];
  seconds: number;
}

interface SuiteOptions {
  /** Where jest's own output goes: a function gets all of it when the suite ends. */
  output?: "inherit" | "ignore" | ((text: string) => void);
  /** Called with the result of each file, as it ends. */
  onFile?(result: FileResult): void;
  /** Settings for the tests, besides those of this process. */
  env?: Record<string, string>;
  /** How many files jest runs at a time; its configuration says unless this does. */
  atOnce?: number;
}

/** The limit of a test in `npm run test:all` and the files that only it runs; others have that of jest's configuration. */
const LONGER_TEST_MS = 180_000;

const running = new Set<ChildProcess>();

/** Runs the test files in one jest, and stops it with all it started when the budget is used up. */
export async function runSuite(
  root: string,
  files: string[],
  budgetSeconds: number,
  { output = "inherit", onFile, env = {}, atOnce }: SuiteOptions = {},
): Promise<SuiteResult> {
  const started = performance.now();
  const notes = mkdtempSync(join(tmpdir(), "sensorium-notes-"));
  const noting = { ...env, [CPU_FILE]: join(notes, "cpu.jsonl") };
  const jest = startJest(root, files, { output, env: noting, atOnce });
  const results: FileResult[] = [];
  let unfinished = "";
  (jest.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
    const lines = (unfinished + text).split("\n");
    unfinished = lines.pop() as string;
    for (const line of lines) {
      const result = parseResult(line, root);
      results.push(result);
      onFile?.(result);
    }
  });
  const held: Buffer[] = [];
  for (const stream of [jest.stdout, jest.stderr]) stream?.on("data", (bytes) => held.push(bytes));
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
  rmSync(notes, { recursive: true, force: true });
  if (typeof output === "function") output(Buffer.concat(held).toString());

  const ran = new Set(results.map(({ file }) => file));
  const problems = files.filter((file) => !ran.has(file)).map((file) => `${file} did not finish`);
  if (over) problems.push(`over the budget of ${budgetSeconds} s`);
  else if (ended !== "exit code 0" && results.every(({ failed }) => failed.length === 0))
    problems.push(`jest ended with ${ended}`);
  return { files: results, problems, seconds: (performance.now() - started) / 1000 };
}

/** Stops whatever `runSuite` has running, for when the test command itself is stopped. */
export function stopSuites(): void {
  for (const jest of running) stop(jest);
}

function startJest(root: string, files: string[], { output, env, atOnce }: SuiteOptions): ChildProcess {
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  // The caller has chosen the files: jest's own pattern must not leave any of them out.
  const workers = atOnce === undefined ? [] : ["--maxWorkers", String(atOnce)];
  const isLong = process.env.SENSORIUM_TEST_ALL !== undefined || files.some(isLonger);
  const limit = isLong ? ["--testTimeout", String(LONGER_TEST_MS)] : [];
  const choice = [
    ...workers,
    ...limit,
    "--testMatch",
    "<rootDir>/{test,extensions/*/test,packages/{*,integrations/*}/test}/**/*.ts",
    "--runTestsByPath",
    ...files,
  ];
  // Of one worker jest would wait for every open connection. environment.ts reports leftovers of files.
  const reporters = [
    ...["--forceExit", "--reporters", "default", "--reporters"],
    join(root, "test/support/reporter.ts"),
  ];
  const out = typeof output === "function" ? "pipe" : output;
  const jest = spawn(
    process.execPath,
    [...flags, join(root, "node_modules/jest/bin/jest.js"), ...reporters, ...choice],
    // A separate process group, so that a stop reaches the workers and all that the tests started.
    {
      cwd: root,
      // Each thread of a test would strip and compile its modules again.
      env: { ...process.env, ...COMPILED, NODE_ENV: "test", ...env },
      stdio: ["ignore", out, out, "pipe"],
      detached: true,
    },
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

function parseResult(line: string, root: string): FileResult {
  const result = JSON.parse(line) as FileResult;
  return { ...result, file: relative(root, result.file).split(sep).join("/") };
}
