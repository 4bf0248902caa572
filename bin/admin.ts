import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { ConfigError, readConfig } from "../config.ts";
import { write } from "../packages/client/cli/colour.ts";
import { COMMANDS } from "./admin/commands.ts";
import { openTarget } from "./admin/open.ts";
import { AdminError } from "./admin/target.ts";
import { COMMON, candidates, ownFlags, ownOptions, refuseMore, type Typed } from "./admin/typed.ts";

/** The operator's command line: uses the server if it runs, and otherwise its store. */
async function main(args: string[]): Promise<void> {
  if (args[0] === "__complete")
    return void process.stdout.write(candidates(args.slice(1), COMMANDS).join("\n"));
  const { name, typed, wantsHelp } = readCommand(args);
  if (wantsHelp) return void process.stdout.write(help());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new AdminError(`"${name}" is not a command. Run admin --help for a list.`);
  refuseMore(name, command, typed);
  const { tenant, url, email, code } = typed.options;
  const password = await passwordIn(typed.options["password-file"]);
  const target = await openTarget(readConfig(), { tenant, url, email, password, code });
  try {
    const result = await command.run(target, typed);
    write(process.stdout, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await target.close();
  }
}

async function passwordIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((err: Error) => {
    throw new AdminError(`--password-file: ${err.message}`);
  });
  return text.trimEnd();
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
    throw new AdminError((err as Error).message);
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

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (err: unknown) => {
    const told = err instanceof AdminError || err instanceof ConfigError;
    write(process.stderr, `${told ? (err as Error).message : (err as Error).stack}\n`);
    process.exit(1);
  },
);
