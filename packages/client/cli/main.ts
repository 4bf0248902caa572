import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createClient } from "../client.ts";
import type { Command, Context } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON, formsOf, helpFor, overview, usageOf } from "./help.ts";
import { readSettings, type Settings } from "./settings.ts";
import { Telling } from "./telling.ts";
import { UsageError } from "./usage.ts";

/** Runs one command. Returns the exit code: 0 on success, 1 on failure, 2 on wrong usage. */
export async function main(args: string[]): Promise<number> {
  const [name = "", ...rest] = commandFirst(args);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  // The reader of the output may close it: `sensorium tail | head`.
  process.stdout.on("error", () => process.exit(1));
  if (["version", "--version", "-v"].includes(name)) return version();
  const telling = new Telling(args);
  if (!command) return help(telling, name, rest[commonOnes(rest)]);
  const ended = new AbortController();
  const end = () => ended.abort();
  // A second Ctrl-C exits at once. A supervisor's signal may arrive twice: directly and through bin.js.
  process.once("SIGINT", end).on("SIGTERM", end);
  try {
    const { values, words } = parsed(name, command, rest);
    if (values.help) {
      process.stdout.write(helpFor(name, command));
      return 0;
    }
    const settings = await settingsOf(name, values);
    telling.heed(settings);
    await command.run(contextOf(values, words, settings, telling, ended.signal));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (ended.signal.aborted) return 130;
    if (error instanceof UsageError) return misused(telling, error, name, command);
    telling.failure(error as Error);
    return 1;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

/** Moves the command's name before common options. Without a name and other options, shows the help. */
function commandFirst(args: string[]): string[] {
  const at = commonOnes(args);
  const [before, [name, ...rest]] = [args.slice(0, at), args.slice(at)];
  if (name !== undefined) return [name, ...before, ...rest];
  return args.length === 0 || before.some((arg) => HELP.includes(arg)) ? ["help"] : [];
}

const HELP = ["--help", "-h"];

/** Counts the leading words that are common options and their values. */
function commonOnes(args: string[]): number {
  let at = 0;
  for (let arg = args[at]; arg !== undefined; arg = args[at]) {
    const [option = "", given] = arg.split("=");
    const name = option.slice(2);
    if (arg !== "-h" && !(option.startsWith("--") && Object.hasOwn(COMMON, name))) break;
    at += COMMON[name]?.value && given === undefined ? 2 : 1;
  }
  return Math.min(at, args.length);
}

type Values = Context["options"];

function settingsOf(name: string, { url, profile }: Values): Promise<Settings> {
  return readSettings({
    ...(typeof url === "string" && { url }),
    ...(typeof profile === "string" && { profile }),
    // `connect` may create the profile.
    mayBeNew: name === "connect",
  });
}

function contextOf(
  options: Values,
  words: string[],
  settings: Settings,
  telling: Telling,
  signal: AbortSignal,
): Context {
  const { url, api_key } = settings.profile;
  return {
    words,
    options,
    settings,
    client: createClient({ url, ...(api_key && { apiKey: api_key }) }),
    signal,
    print: (value, text) => {
      const written = options.json ? JSON.stringify(value) : typeof text === "string" ? text : text();
      process.stdout.write(`${written}\n`);
    },
    telling,
  };
}

function parsed(name: string, command: Command, args: string[]): { values: Values; words: string[] } {
  const known = Object.entries({ ...COMMON, ...command.options }).map(([option, { value, short }]) => {
    return [option, { type: value ? "string" : "boolean", ...(short && { short }) } as const] as const;
  });
  try {
    const options = Object.fromEntries(known);
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (!values.help) refuseMore(name, command, positionals);
    return { values: values as Values, words: positionals };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

/** Refuses extra words: an unquoted text would lose all but its first. @throws UsageError */
function refuseMore(name: string, command: Command, words: string[]): void {
  const forms = formsOf(command, words);
  const extra = words[Math.max(...forms.map(({ length }) => length))];
  if (extra === undefined) return;
  const meant = forms.length > 1 || command.takes.includes("|") ? `${name} ${words[0]}` : name;
  throw new UsageError(`Unexpected argument "${extra}" for ${meant}: put a text with spaces in quotes.`);
}

function misused(telling: Telling, { message }: UsageError, name: string, command: Command): number {
  const usage = `sensorium ${usageOf(name, command)}`;
  telling.misuse(message, { usage, hint: `Usage: ${usage}\nsensorium ${name} --help for details.` });
  return 2;
}

async function version(): Promise<number> {
  const manifest = await readFile(new URL(import.meta.resolve("#package")), "utf8");
  process.stdout.write(`${JSON.parse(manifest).version}\n`);
  return 0;
}

function help(telling: Telling, name: string, about: string | undefined): number {
  const unknown = name === "help" ? about : name;
  const command = unknown !== undefined && Object.hasOwn(COMMANDS, unknown) ? COMMANDS[unknown] : undefined;
  if (unknown === undefined || command) {
    process.stdout.write(command ? helpFor(unknown as string, command) : overview());
    return 0;
  }
  const commands = Object.keys(COMMANDS).join(", ");
  const hint = `Commands: ${commands}. Run sensorium help for details.`;
  const problem = unknown ? `"${unknown}" is not a command.` : "COMMAND is missing.";
  telling.misuse(problem, { usage: "sensorium COMMAND", hint });
  return 2;
}
