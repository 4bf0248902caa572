import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createClient } from "../client.ts";
import { ApiError, ConnectionError } from "../errors.ts";
import { adviceOn } from "./advice.ts";
import type { Command, Context } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON, helpFor, overview, usageOf, wordsOf } from "./help.ts";
import { readSettings, type Settings } from "./settings.ts";
import { Failure, UsageError } from "./usage.ts";

/** Carries out one command. Gives the exit code: 0, 1 when it failed, 2 when it was typed wrong. */
export async function main(args: string[]): Promise<number> {
  const [name = "help", ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  // Whoever read what is printed may have had enough of it: `afferent tail | head`.
  process.stdout.on("error", () => process.exit(1));
  if (["version", "--version", "-v"].includes(name)) return version();
  if (!command) return help(name, rest[0]);
  const ended = new AbortController();
  const end = () => ended.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  let settings: Settings | undefined;
  try {
    const { values, words } = parsed(name, command, rest);
    if (values.help) {
      process.stdout.write(helpFor(name, command));
      return 0;
    }
    settings = await settingsOf(name, values);
    await command.run(contextOf(values, words, settings, ended.signal));
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return ended.signal.aborted ? 130 : told(error, name, command, settings);
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

type Values = Context["options"];

function settingsOf(name: string, { url, profile }: Values): Promise<Settings> {
  return readSettings({
    ...(typeof url === "string" && { url }),
    ...(typeof profile === "string" && { profile }),
    // What it keeps under a name need not be there before.
    mayBeNew: name === "connect",
  });
}

function contextOf(options: Values, words: string[], settings: Settings, signal: AbortSignal): Context {
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
    note: (text) => void process.stderr.write(`${text}\n`),
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

/** A text that was typed without quotes would be cut after its first word. @throws UsageError */
function refuseMore(name: string, { takes }: Command, words: string[]): void {
  const extra = words[wordsOf(takes)];
  if (extra === undefined) return;
  throw new UsageError(`"${extra}" is more than ${name} takes: a text with spaces goes in quotes.`);
}

function told(error: unknown, name: string, command: Command, settings: Settings | undefined): number {
  const { message, stack } = error as Error;
  if (error instanceof UsageError) {
    process.stderr.write(
      `${message}\n\nUsage: afferent ${usageOf(name, command)}\nafferent ${name} --help tells more.\n`,
    );
    return 2;
  }
  const expected = [ApiError, ConnectionError, Failure].some((kind) => error instanceof kind);
  const text = settings && error instanceof ApiError ? adviceOn(error, settings) : message;
  const hint = error instanceof ConnectionError ? "\nafferent doctor tells more." : "";
  process.stderr.write(`${expected ? text + hint : stack}\n`);
  return 1;
}

/** The package's; the repository, where it runs unbuilt, has the same. */
async function version(): Promise<number> {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  process.stdout.write(`${JSON.parse(manifest).version}\n`);
  return 0;
}

function help(name: string, about: string | undefined): number {
  const wantsHelp = ["help", "--help", "-h"].includes(name);
  const unknown = wantsHelp ? about : name;
  const command = unknown !== undefined && Object.hasOwn(COMMANDS, unknown) ? COMMANDS[unknown] : undefined;
  if (unknown === undefined || command) {
    process.stdout.write(command ? helpFor(unknown as string, command) : overview());
    return 0;
  }
  const commands = Object.keys(COMMANDS).join(", ");
  process.stderr.write(
    `"${unknown}" is not a command.\n\nIt is one of ${commands}; afferent help tells more.\n`,
  );
  return 2;
}
