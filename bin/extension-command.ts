import { ConfigError } from "../config.ts";
import { didYouMean } from "../packages/client/cli/nearest.ts";
import { RUNNING, readAllSettings, type ServerCommand } from "../services/extensions.ts";

const commands = Object.assign({}, ...RUNNING.map((each) => each.commands)) as Record<string, ServerCommand>;

/** Lines for the help. */
export const usage: string[] = Object.values(commands).map(
  ({ usage }) => `       sensorium-server ${usage}\n`,
);

/** Runs a command of an extension. Returns false if there is none of these words. */
export async function runExtensionCommand(name: string, words: string[]): Promise<boolean> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    return (await command?.run(words, readAllSettings(), console.log)) ?? false;
  } catch (err) {
    console.error(err instanceof ConfigError ? err.message : err);
    process.exitCode = 1;
    return true;
  }
}

/** Says that the help has no such command, if it has none, and which one is meant. */
export function refusal(name: string, help: string): string {
  const names = Array.from(help.matchAll(/sensorium-server (-*\w+)/g), ([, known]) => known as string);
  return /help|^-h$/.test(name) || names.includes(name)
    ? ""
    : `"${name}" is not a command.${didYouMean(name, names)}\n`;
}
