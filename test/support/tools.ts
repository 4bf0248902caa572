import type { SpawnOptions } from "node:child_process";
import { startChild } from "./child.ts";

/** A registry is unreachable, or a program is missing or too old; other failures are plain errors. */
export class ToolsUnavailable extends Error {}

const TOLD_EVERY_MS = 15_000;

/**
 * Runs a program that fetches or builds what tests use, and returns what it prints.
 *
 * @param tell is given what it has printed, now and then
 * @throws ToolsUnavailable if it cannot be started or fails
 */
export async function runTool(
  command: string,
  args: string[],
  options: SpawnOptions = {},
  tell: (output: string) => void = () => {},
): Promise<string> {
  const unavailable = (why: string) =>
    new ToolsUnavailable(`${command} ${args.join(" ")}: ${why.slice(-400)}`);
  const child = await startChild(command, args, options).catch((err: Error) => {
    throw unavailable(err.message);
  });
  const timer = setInterval(() => tell(child.output()), TOLD_EVERY_MS);
  const { code } = await child.exited;
  clearInterval(timer);
  const output = child.output().trim();
  if (code !== 0) throw unavailable(output);
  return output;
}
