import { readFile } from "node:fs/promises";
import { parseOrigin } from "../access.ts";
import { createClient, once } from "../client.ts";
import { write } from "./colour.ts";
import type { Command, Context } from "./command.ts";
import { candidates } from "./complete.ts";
import { type Host, type Io, newHost } from "./environment.ts";
import { find } from "./find.ts";
import { groupHelp, helpFor, overview, usageOf } from "./help.ts";
import { newOutput, widthOf } from "./output.ts";
import { parse } from "./parse.ts";
import { readSettings, type Settings } from "./settings.ts";
import { identityFor, makeAuthorization } from "./signing-in.ts";
import { Telling } from "./telling.ts";
import { UsageError } from "./usage.ts";

/** Runs one command. Returns the exit code: 0 on success, 1 on failure, 2 on wrong usage. */
export async function main(args: string[], io: Io): Promise<number> {
  const host = newHost(io);
  const show = (text: string) => shown(host, text);
  if (args[0] === "__complete") return show(candidates(args.slice(1)).join("\n"));
  if (["version", "--version", "-v"].includes(args.filter((arg) => arg !== "--json")[0] ?? ""))
    return show(await version());
  const telling = new Telling(args, host.stderr);
  const found = find(args);
  const width = widthOf(host);
  if (found.kind === "overview") return show(overview(width));
  if (found.kind === "group") return show(groupHelp(found.group, width));
  if (found.kind === "command") return runOne(host, found.name, found.command, found.rest, telling);
  const { message, usage, hint } = found;
  telling.misuse(message, { usage, hint });
  return 2;
}

async function runOne(
  host: Host,
  name: string,
  command: Command,
  args: string[],
  telling: Telling,
): Promise<number> {
  const ended = new AbortController();
  const end = () => ended.abort();
  // A second Ctrl-C exits at once. A supervisor's signal may arrive twice: directly and through bin.js.
  host.signals.once("SIGINT", end);
  host.signals.on("SIGTERM", end);
  try {
    const { values, words } = parse(name, command, args);
    if (values.help) return shown(host, helpFor(name, command, widthOf(host)));
    const settings = await settingsOf(host, command, values);
    telling.heed(settings);
    const context = await makeContext(host, command, { values, words }, settings, telling, ended.signal);
    await command.run(context);
    return context.exitCode ?? 0;
  } catch (error) {
    if (ended.signal.aborted) return 130;
    if (command.lenient) return passOver(host, telling, error as Error);
    if (error instanceof UsageError) return misused(telling, error, name, command);
    telling.failure(error as Error);
    return 1;
  } finally {
    host.signals.off("SIGINT", end);
    host.signals.off("SIGTERM", end);
  }
}

type Values = Context["options"];

function settingsOf(host: Host, command: Command, { url, profile }: Values): Promise<Settings> {
  return readSettings(host, {
    ...(typeof url === "string" && { url }),
    ...(typeof profile === "string" && { profile }),
    // `connect` and `login` may create the profile.
    mayBeNew: command.open === true,
    unattended: command.unattended === true,
  });
}

async function makeContext(
  host: Host,
  command: Command,
  { values, words }: { values: Values; words: string[] },
  settings: Settings,
  telling: Telling,
  signal: AbortSignal,
): Promise<Context> {
  const { url } = settings.profile;
  const { as, query, json, timezone, ...more } = values as Partial<
    Record<"as" | "query" | "timezone" | "idempotency-key", string>
  > & { json?: boolean };
  const authorize = command.open
    ? undefined
    : makeAuthorization(identityFor(command, as, settings), settings, host);
  const { print, table } = await newOutput(host, json === true, query, timezone);
  const notes = [...settings.notes];
  // Otherwise a command is silent for up to a minute.
  const onWait = once(({ message }: { message: string }) => telling.note(message));
  const keyed = withKey(more["idempotency-key"]);
  const send: typeof fetch = (input, init) => {
    for (const note of notes.splice(0)) telling.note(note);
    return fetch(input, keyed(init));
  };
  return {
    words,
    options: values,
    settings,
    client: createClient({ url, fetch: send, onWait, ...(authorize ? { authorize } : { anonymous: true }) }),
    connection: {
      origin: parseOrigin(url),
      authorization: authorize,
      fetch: send,
      retries: 3,
      timeoutMs: 60_000,
      onWait,
    },
    host,
    signal,
    print,
    table,
    telling,
  };
}

/** Returns a function that replaces the Idempotency-Keys of a command's changes: by `key`, `key 2`, `key 3` and so on. */
function withKey(key: string | undefined): (init?: RequestInit) => RequestInit | undefined {
  const keys = new Map<string, string>();
  return (init) => {
    const headers = new Headers(init?.headers);
    const random = headers.get("idempotency-key");
    if (key === undefined || random === null) return init;
    // A retry has the same one.
    if (!keys.has(random)) keys.set(random, keys.size === 0 ? key : `${key} ${keys.size + 1}`);
    headers.set("idempotency-key", keys.get(random) as string);
    return { ...init, headers };
  };
}

/** To some tools another exit code than 0 says to stop or to go on. */
function passOver(host: Host, telling: Telling, { message }: Error): number {
  telling.note(`sensorium: ${message.split("\n")[0]}`.replace(/ Looked at:$/, ""));
  return shown(host, "{}");
}

function misused(telling: Telling, { message }: UsageError, name: string, command: Command): number {
  const usage = `sensorium ${usageOf(name, command)}`;
  telling.misuse(message, { usage, hint: `Usage: ${usage}\nsensorium ${name} --help for details.` });
  return 2;
}

async function version(): Promise<string> {
  const manifest = await readFile(new URL(import.meta.resolve("#package")), "utf8");
  return JSON.parse(manifest).version;
}

function shown({ stdout, isColoured }: Host, text: string): number {
  if (text) write(stdout, `${text.trimEnd()}\n`, isColoured);
  return 0;
}
