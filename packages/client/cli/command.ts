import type { Client } from "../client.ts";
import type { Settings } from "./settings.ts";
import type { Telling } from "./telling.ts";
import { UsageError } from "./usage.ts";

/** One thing that the command line can do. */
export interface Command {
  /** The words that come after its name; with `|` between those of which it takes one. */
  takes: string;
  does: string;
  options?: Record<string, Option>;
  run(context: Context): Promise<void>;
}

export interface Option {
  /** What is given with it, as it stands in the usage; a flag has none. */
  value?: string;
  short?: string;
  means: string;
}

export interface Context {
  words: string[];
  /** The options as they were given. */
  options: Record<string, string | boolean | undefined>;
  settings: Settings;
  client: Client;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** For people, or with `--json` as JSON. */
  print(value: unknown, text: (() => string) | string): void;
  /** For all that is no result. */
  telling: Telling;
}

export function text(context: Context, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === "string" ? value : undefined;
}

/** An option that is a whole number above 0. @throws UsageError */
export function count(context: Context, name: string, fallback: number): number {
  const given = text(context, name);
  if (given === undefined) return fallback;
  if (!/^[1-9]\d{0,8}$/.test(given))
    throw new UsageError(`--${name} is ${given}: expected a whole number above 0.`);
  return Number(given);
}

/** An option that must be one of a few. @throws UsageError */
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

/** The word at a place. @throws UsageError when it is missing */
export function word(context: Context, at: number, name: string): string {
  const given = context.words[at];
  if (given === undefined) throw new UsageError(`${name} is missing.`);
  return given;
}
