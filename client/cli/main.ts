import { parseArgs } from "node:util";
import { createClient } from "../client.ts";
import { ApiError, ConnectionError } from "../errors.ts";
import type { Command, Context } from "./command.ts";
import { connect } from "./connect.ts";
import { doctor } from "./doctor.ts";
import { listen, publish, tail } from "./events.ts";
import { handoff } from "./handoff.ts";
import { mcp } from "./mcp.ts";
import { recall, remember } from "./memory.ts";
import { run } from "./run.ts";
import { readSettings } from "./settings.ts";
import { UsageError } from "./usage.ts";

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
  if (!command) return help(name);
  const ended = new AbortController();
  const end = () => ended.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    const context = await contextOf(command, rest, ended.signal);
    if (context.options.help) process.stdout.write(`afferent ${usageOf(name, command)}\n`);
    else await command.run(context);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return ended.signal.aborted ? 130 : told(error);
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

async function contextOf(command: Command, args: string[], signal: AbortSignal): Promise<Context> {
  const { values, positionals } = parsed(command, args);
  const { url, profile } = values as { url?: string; profile?: string };
  const settings = await readSettings({ ...(url && { url }), ...(profile && { profile }) });
  const { url: address, api_key } = settings.profile;
  return {
    words: positionals,
    options: values as Context["options"],
    settings,
    client: createClient({ url: address, ...(api_key && { apiKey: api_key }) }),
    signal,
    print: (value, text) => {
      const written = values.json ? JSON.stringify(value) : typeof text === "string" ? text : text();
      process.stdout.write(`${written}\n`);
    },
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}

function parsed({ options }: Command, args: string[]) {
  try {
    return parseArgs({ args, options: { ...COMMON, ...options }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function told(error: unknown): number {
  const usage = error instanceof UsageError;
  const expected = usage || error instanceof ApiError || error instanceof ConnectionError;
  process.stderr.write(`${expected ? describe(error as Error) : (error as Error).stack}\n`);
  return usage ? 2 : 1;
}

function describe(error: Error): string {
  if (error instanceof ApiError) {
    const request = error.requestId ? ` (${error.code}, request ${error.requestId})` : ` (${error.code})`;
    return `${error.message}${request}`;
  }
  return error instanceof ConnectionError ? `${error.message}\nafferent doctor tells more.` : error.message;
}

function help(name: string): number {
  const known = ["help", "--help", "-h"].includes(name);
  const lines = Object.entries(COMMANDS).map(([each, command]) => `  ${usageOf(each, command)}\n`);
  const text = `afferent COMMAND

${lines.join("")}
A value may be @FILE, or - for standard input. Everywhere: --json for programs, --url, --profile NAME.
The address and the key come from --url, AFFERENT_URL and AFFERENT_API_KEY, from the profile that \`connect\` kept,
or from data/credentials.json of a server that was started in this folder.
`;
  (known ? process.stdout : process.stderr).write(known ? text : `"${name}" is not a command.\n\n${text}`);
  return known ? 0 : 2;
}

function usageOf(name: string, { takes, does }: Command): string {
  return `${`${name} ${takes}`.trim()}\n      ${does}`;
}
