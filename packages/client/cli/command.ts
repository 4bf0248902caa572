import type { Client } from "../client.ts";
import type { Settings } from "./settings.ts";
import type { Telling } from "./telling.ts";
import { UsageError } from "./usage.ts";

/** A command of the command line. */
export interface Command {
  /** The words after its name, with `|` between alternatives. */
  takes: string;
  does: string;
  options?: Record<string, Option>;
  run(context: Context): Promise<void>;
}

export interface Option {
  /** The option's value as the usage shows it; a flag has none. */
  value?: string;
  short?: string;
  means: string;
}

export interface Context {
  words: string[];
  /** The given options. */
  options: Record<string, string | boolean | undefined>;
  settings: Settings;
  client: Client;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Prints the text for people, or with `--json` the value as JSON. */
  print(value: unknown, text: (() => string) | string): void;
  /** For all output that is not a result. */
  telling: Telling;
}

export function text(context: Context, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns an option that is a whole number above 0. @throws UsageError */
export function count(context: Context, name: string, fallback: number): number {
  const given = text(context, name);
  if (given === undefined) return fallback;
  if (!/^[1-9]\d{0,8}$/.test(given))
    throw new UsageError(`--${name} is ${given}: expected a whole number above 0.`);
  return Number(given);
}

/** Returns an option with a fixed set of values. @throws UsageError */
export function choice<const T extends readonly string[]>(
  context: Context,
  name: string,
  allowed: T,
  fallback: T[number],
): T[number] {
  const given = text(context, name) ?? fallback;
  if (!allowed.includes(given))
    throw new UsageError(`--${name} is ${given}: expected ${allowed.join(", ")}.`);
  return given;
}

/** Returns the word at a position. @throws UsageError if missing */
export function word(context: Context, at: number, name: string): string {
  const given = context.words[at];
  if (given === undefined) throw new UsageError(`${name} is missing.`);
  return given;
}
