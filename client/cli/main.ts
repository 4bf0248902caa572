import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createClient } from "../client.ts";
import { ApiError, ConnectionError } from "../errors.ts";
import { adviceOn } from "./advice.ts";
import type { Command, Context } from "./command.ts";
import { connect } from "./connect.ts";
import { doctor } from "./doctor.ts";
import { listen, publish, tail } from "./events.ts";
import { handoff } from "./handoff.ts";
import { mcp } from "./mcp.ts";
import { recall, remember } from "./memory.ts";
import { run } from "./run.ts";
import { readSettings, type Settings } from "./settings.ts";
import { Failure, UsageError } from "./usage.ts";

const COMMANDS: Record<string, Command> = {
  connect,
  publish,
  listen,
  tail,
  remember,
  recall,
  handoff,
  run,
  mcp,
  doctor,
};

const COMMON = {
  url: { type: "string" },
  profile: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Carries out one command. Gives the exit code: 0, 1 when it failed, 2 when it was typed wrong. */
export async function main(args: string[]): Promise<number> {
  const [name = "help", ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  // Whoever read what is printed may have had enough of it: `afferent tail | head`.
  process.stdout.on("error", () => process.exit(1));
  if (["version", "--version", "-v"].includes(name)) return version();
  if (!command) return help(name);
  const ended = new AbortController();
  const end = () => ended.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  let settings: Settings | undefined;
  try {
    const { values, words } = parsed(command, rest);
    if (values.help) {
      process.stdout.write(`afferent ${usageOf(name, command)}\n`);
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

function parsed({ options }: Command, args: string[]): { values: Values; words: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...COMMON, ...options },
      allowPositionals: true,
    });
    return { values: values as Values, words: positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function told(error: unknown, name: string, command: Command, settings: Settings | undefined): number {
  const { message, stack } = error as Error;
  if (error instanceof UsageError) {
    process.stderr.write(`${message}\n\nUsage: afferent ${`${name} ${command.takes}`.trim()}\n`);
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

function help(name: string): number {
  const commands = Object.keys(COMMANDS).join(", ");
  if (!["help", "--help", "-h"].includes(name)) {
    process.stderr.write(
      `"${name}" is not a command.\n\nIt is one of ${commands}; afferent help tells more.\n`,
    );
    return 2;
  }
  const lines = Object.entries(COMMANDS).map(([each, command]) => `  ${usageOf(each, command)}\n`);
  process.stdout.write(`afferent COMMAND

${lines.join("")}
A value may be @FILE, or - for standard input. Everywhere: --json for programs, --url, --profile NAME.
The address and the key come from --url, AFFERENT_URL and AFFERENT_API_KEY, from the profile that \`connect\` kept,
or from data/credentials.json of a server that was started in this folder.
`);
  return 0;
}

function usageOf(name: string, { takes, does }: Command): string {
  return `${`${name} ${takes}`.trim()}\n      ${does}`;
}
