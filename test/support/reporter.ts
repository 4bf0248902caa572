import { readFileSync, writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, Test, TestResult } from "@jest/reporters";
import { CPU_FILE } from "./cpu.ts";

/** The results of one test file for the test command, one line of JSON each. */
export interface FileResult {
  file: string;
  passed: string[];
  /** Their names, each with the beginning of its error. */
  failed: string[];
  skipped: string[];
  seconds: number;
  /** Processor time in seconds, of its children too. */
  cpu: number;
  /** Tests that took longer than `SLOW_MS`, with their seconds. */
  slow: { test: string; seconds: number }[];
}

const SLOW_MS = 30_000;

/** The pipe that the test command reads. */
const RESULTS_FD = 3;

/** Reports each file's result as it ends, so that a stopped run has reported its finished files. */
export default class ResultsReporter implements Pick<Reporter, "onTestResult"> {
  onTestResult(_test: Test, result: TestResult): void {
    const named = (...statuses: string[]) =>
      result.testResults.filter((test) => statuses.includes(test.status)).map((test) => test.fullName);
    const failed = result.testResults.flatMap(({ status, fullName, failureMessages }) =>
      status === "failed" ? [`${fullName}: ${brief(failureMessages[0] ?? "")}`] : [],
    );
    if (result.testExecError && failed.length === 0)
      failed.push(`(the file itself): ${brief(result.testExecError.message)}`);
    const line: FileResult = {
      ...{ file: result.testFilePath, passed: named("passed"), failed },
      skipped: named("pending", "skipped", "todo", "disabled"),
      seconds: result.perfStats.runtime / 1000,
      cpu: notedCpu(result.testFilePath),
      slow: result.testResults.flatMap(({ fullName, duration }) =>
        duration && duration > SLOW_MS ? [{ test: fullName, seconds: duration / 1000 }] : [],
      ),
    };
    writeSync(RESULTS_FD, `${JSON.stringify(line)}\n`);
  }
}

/** The note of environment.ts about the file. */
function notedCpu(testFile: string): number {
  const notes = readFileSync(process.env[CPU_FILE] as string, "utf8")
    .trim()
    .split("\n");
  const { cpu = 0 } = notes.map((line) => JSON.parse(line)).findLast(({ file }) => file === testFile) ?? {};
  return cpu;
}

/** An error's message in one line, without its stack. */
function brief(message: string): string {
  const lines = stripVTControlCharacters(message).split(/\n\s+at /)[0] ?? "";
  return lines.trim().replace(/\s+/g, " ").slice(0, 300);
}
