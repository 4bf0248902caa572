import type { Client } from "../client.ts";
import type { Connection } from "../request.ts";
import type { Host } from "./environment.ts";
import type { Output } from "./output.ts";
import type { Settings } from "./settings.ts";
import type { Telling } from "./telling.ts";
import { UsageError } from "./usage.ts";

/** The caller of a command's operations: an agent with its key, or a person who signed in. */
export type Identity = "agent" | "person";

/** A command of the command line. Help, reference, completion and suggestions derive from it. */
export interface Command {
  /** The words after its name: `[…]` may be missing, `ID...` may be repeated. */
  takes: string;
  does: string;
  options?: Record<string, Option>;
  /** Calls worth showing, without the program's name. */
  examples?: string[];
  /** Allowed callers: the only one, or the preferred one first. Default: `["agent", "person"]`. */
  as?: readonly Identity[];
  /** Needs no identity. */
  open?: true;
  /** Gets every word as it was given, options too. */
  raw?: true;
  /** A program calls it that it must not disturb: a failure is a note, with the exit code 0 and an empty object. */
  lenient?: true;
  /** A program starts it in folders that no person chose for it: takes neither address nor key from the folder. */
  unattended?: true;
  run(context: Context): Promise<void>;
}

export interface Option {
  /** The option's value as the usage shows it; a flag has none. */
  value?: string;
  /** May be given several times. */
  repeated?: true;
  short?: string;
  means: string;
}

export interface Context {
  words: string[];
  /** The given options. */
  options: Record<string, string | boolean | string[] | undefined>;
  settings: Settings;
  client: Client;
  connection: Connection;
  /** Its environment. */
  host: Host;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** To exit with if the command does not throw; default: 0. */
  exitCode?: number;
  /** Prints the text for people, or with `--json` the value as JSON. */
  print: Output["print"];
  /** Prints rows as a table for people, or with `--json` the value as JSON. */
  table: Output["table"];
  /** For all output that is not a result. */
  telling: Telling;
}

export function text(context: Context, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === "string" ? value : undefined;
}

/** Reports what an answer warns of: it succeeded, but is likely not what was meant. */
export function noteWarnings({ telling }: Context, { warnings = [] }: { warnings?: string[] }): void {
  for (const warning of warnings) telling.note(`Warning: ${warning}`);
}

/** Returns the given texts of options as parameters. */
export function given<const Name extends string>(
  context: Context,
  ...names: Name[]
): { [K in Name]?: string } {
  const found = names.map((name) => [name, text(context, name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as { [K in Name]?: string };
}

/** Returns a list given as `a,b`. */
export function readList(context: Context, name: string): string[] | undefined {
  return text(context, name)
    ?.split(",")
    .map((each) => each.trim())
    .filter(Boolean);
}

/** Returns an option that is a whole number above 0. @throws UsageError */
export function count(context: Context, name: string, fallback: number): number {
  const typed = text(context, name);
  if (typed === undefined) return fallback;
  if (!/^[1-9]\d{0,8}$/.test(typed))
    throw new UsageError(`--${name} is ${typed}: expected a whole number above 0.`);
  return Number(typed);
}

/** Returns an option with a fixed set of values. @throws UsageError */
export function choice<const T extends readonly string[]>(
  context: Context,
  name: string,
  allowed: T,
  fallback: T[number],
): T[number] {
  return optionalChoice(context, name, allowed) ?? fallback;
}

/** Returns an option with a fixed set of values, if it is given. @throws UsageError */
export function optionalChoice<const T extends readonly string[]>(
  context: Context,
  name: string,
  allowed: T,
): T[number] | undefined {
  const typed = text(context, name);
  if (typed !== undefined && !allowed.includes(typed))
    throw new UsageError(`--${name} is ${typed}: expected ${allowed.join(", ")}.`);
  return typed;
}

/** Returns the word at a position. @throws UsageError if missing */
export function word(context: Context, at: number, name: string): string {
  const typed = context.words[at];
  if (typed === undefined) throw new UsageError(`${name} is missing.`);
  return typed;
}
