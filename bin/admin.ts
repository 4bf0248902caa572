import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Config, ConfigError } from "../config.ts";
import { parseOrigin } from "../packages/client/access.ts";
import { write } from "../packages/client/cli/colour.ts";
import { didYouMean } from "../packages/client/cli/nearest.ts";
import { isLoopback, readServerFile } from "../packages/client/cli/server-file.ts";
import { readAllSettings } from "../services/extensions.ts";
import { COMMANDS } from "./admin/commands.ts";
import { openOnline } from "./admin/online.ts";
import {
  AdminError,
  COMMON,
  candidates,
  type Identity,
  namesIn,
  ownFlags,
  ownOptions,
  readGiven,
  refuseMore,
  type Target,
  type Typed,
} from "./admin/typed.ts";

/**
 * The operator's command line: uses the server if it runs, and otherwise its store.
 * @param env settings, of this process if absent
 * @throws AdminError, ConfigError: their messages are for the operator
 */
export async function admin(
  args: string[],
  stdout: NodeJS.WritableStream,
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  if (args[0] === "__complete") return void stdout.write(candidates(args.slice(1), COMMANDS).join("\n"));
  const { name, typed, wantsHelp } = readCommand(args);
  if (wantsHelp) return void stdout.write(help());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw unknownCommand(name);
  refuseMore(name, command, typed);
  const { tenant, url, email, code } = typed.options;
  const file = typed.options["password-file"];
  const password = file === undefined ? undefined : (await readGiven("password-file", file)).trimEnd();
  const target = await openTarget(readAllSettings(env), { tenant, url, email, password, code });
  try {
    const result = await command.run(target, typed);
    write(stdout, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await target.close();
  }
}

/** Names what a group has, or the command or group that is meant. */
function unknownCommand(name: string): AdminError {
  const [group = "", action = ""] = name.split(" ");
  const actions = namesIn(COMMANDS, group);
  if (actions.length > 0)
    return new AdminError(`${name}: expected ${actions.join(", ")}.${didYouMean(action, actions)}`);
  const meant = didYouMean(name, Object.keys(COMMANDS)) || didYouMean(group, namesIn(COMMANDS));
  return new AdminError(`"${name}" is not a command.${meant} Run admin --help for a list.`);
}

function readCommand(args: string[]): { name: string; typed: Typed; wantsHelp: boolean } {
  const names = [...COMMON, ...Object.values(COMMANDS).flatMap(ownOptions)];
  const valued = names.map((name) => [name, { type: "string" as const }] as const);
  const flags = Object.values(COMMANDS)
    .flatMap(ownFlags)
    .map((name) => [name, { type: "boolean" as const }] as const);
  const help = { help: { type: "boolean", short: "h" } as const };
  const options = { ...Object.fromEntries(valued), ...Object.fromEntries(flags), ...help };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const { help: isAsked = false, ...given } = values;
    const name = positionals.slice(0, 2).join(" ");
    const set = Object.entries(given).filter(([, value]) => value === true);
    const typed = {
      options: given as Typed["options"],
      flags: new Set(set.map(([flag]) => flag)),
      words: positionals.slice(2),
    };
    return { name, typed, wantsHelp: Boolean(isAsked) || name === "" || name === "help" };
  } catch (err) {
    const { message } = err as Error;
    const [, unknown] = /^Unknown option '--(\S+)'/.exec(message) ?? [];
    const meant = unknown ? didYouMean(unknown, Object.keys(options), (name) => `--${name}`) : "";
    throw new AdminError(meant ? `Unknown option '--${unknown}'.${meant}` : message);
  }
}

function help(): string {
  const lines = Object.entries(COMMANDS).map(
    ([name, { takes, does }]) => `  ${`${name} ${takes}`.padEnd(68)}  ${does}\n`,
  );
  return `sensorium-server admin COMMAND; in a checkout npm run admin -- COMMAND

${lines.join("")}
Commands for users, agents, keys and connectors apply to the tenant --tenant SLUG (default: "default"). Set DATA_DIR (or
MONGO_URL and SECRET_KEY) as for the server. While the server runs, these need an admin's --email
and --password-file, and all others OPERATOR_TOKEN. Defaults come from credentials.json in DATA_DIR: the first admin, and the
server's address for --url.
`;
}

const HEALTH_TIMEOUT_MS = 2000;

/**
 * Returns the running server, which alone may write to an embedded store; else opens the store in this process. The
 * server's file sends secrets to this machine alone, and its own to no other address than its server's.
 */
async function openTarget(config: Config, identity: Identity): Promise<Target> {
  const path = join(config.DATA_DIR, "credentials.json");
  const { server, why } = await readServerFile(path);
  if (why && why !== "not there") throw new AdminError(`${path} ${why}`);
  const address = identity.url === undefined ? server?.base_url : parseBaseUrl(identity.url);
  if (address && (await answers(address))) {
    const isItsOwn = isLoopback(address) || (server && parseOrigin(server.base_url) === parseOrigin(address));
    if (identity.url === undefined && !isLoopback(address))
      throw new AdminError(
        `${path} names ${address}, which is not on this machine. To use it, give --url ${address}.`,
      );
    return openOnline(address, config, identity, (isItsOwn && server) || null);
  }
  if (identity.url !== undefined)
    throw new AdminError(`No server responds at ${address}. Check --url, and that the server is running.`);
  // Loaded late: the store's drivers take longer to load than a whole command to a server.
  const { openOffline } = await import("./admin/offline.ts");
  return openOffline(config, identity.tenant ?? server?.tenant_slug ?? "default");
}

/** @throws AdminError */
function parseBaseUrl(url: string): string {
  try {
    return `${parseOrigin(url)}/v1`;
  } catch (err) {
    throw new AdminError(`--url: ${(err as Error).message}`);
  }
}

/** Whether a server answers. */
async function answers(base_url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${base_url}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    const { status } = (await answer.json()) as { status?: string };
    return status === "ok";
  } catch {
    return false;
  }
}

/** Runs the command of this process's arguments, and ends it. */
export function runAdmin(args: string[]): Promise<never> {
  return admin(args, process.stdout).then(
    () => process.exit(0),
    (err: unknown) => {
      const told = err instanceof AdminError || err instanceof ConfigError;
      write(process.stderr, `${told ? (err as Error).message : (err as Error).stack}\n`);
      process.exit(1);
    },
  );
}
