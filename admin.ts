import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { COMMANDS } from "./admin/commands.ts";
import { openTarget } from "./admin/open.ts";
import { AdminError } from "./admin/target.ts";
import { OPTIONS, type Typed } from "./admin/typed.ts";
import { ConfigError, readConfig } from "./config.ts";

/** The operator's command line: works through the server when it runs, and on its store when it does not. */
async function main(args: string[]): Promise<void> {
  const { name, typed } = readCommand(args);
  const command = COMMANDS[name];
  if (!command) {
    process.stdout.write(help());
    if (name !== "" && name !== "help") throw new AdminError(`"${name}" is not a command.`);
    return;
  }
  const { tenant, email } = typed.options;
  const file = typed.options["password-file"];
  const password = file && (await readFile(file, "utf8")).trimEnd();
  const target = await openTarget(readConfig(), { tenant, email, password });
  try {
    const result = await command.run(target, typed);
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await target.close();
  }
}

function readCommand(args: string[]): { name: string; typed: Typed } {
  const options = Object.fromEntries(OPTIONS.map((name) => [name, { type: "string" as const }]));
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const name = positionals.slice(0, 2).join(" ");
    return { name, typed: { options: values as Typed["options"], words: positionals.slice(2) } };
  } catch (err) {
    throw new AdminError((err as Error).message);
  }
}

function help(): string {
  const lines = Object.entries(COMMANDS).map(
    ([name, { takes, does }]) => `  ${`${name} ${takes}`.padEnd(68)}  ${does}\n`,
  );
  return `npm run admin -- COMMAND

${lines.join("")}
Of users, agents, keys and connectors those of the tenant --tenant SLUG ("default"). With DATA_DIR (or MONGO_URL and
SECRET_KEY) as the server has them. While the server runs, OPERATOR_TOKEN is needed for tenants, and for the others an
admin's --email and --password-file; without these two the first admin's of credentials.json are used.
`;
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (err: unknown) => {
    const told = err instanceof AdminError || err instanceof ConfigError;
    process.stderr.write(`${told ? (err as Error).message : (err as Error).stack}\n`);
    process.exit(1);
  },
);
