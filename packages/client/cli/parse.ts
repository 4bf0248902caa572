import { parseArgs } from "node:util";
import type { Command, Context } from "./command.ts";
import { optionsOf } from "./help.ts";
import { didYouMean } from "./nearest.ts";
import { UsageError } from "./usage.ts";

interface Parsed {
  values: Context["options"];
  words: string[];
}

/** Parses what follows a command's name. @throws UsageError */
export function parse(name: string, command: Command, args: string[]): Parsed {
  if (command.raw) return { values: {}, words: args };
  const options = optionsOf(command);
  const known = Object.entries(options).map(([option, { value, short, repeated }]) => {
    const type = value ? "string" : "boolean";
    return [option, { type, ...(short && { short }), ...(repeated && { multiple: true }) } as const] as const;
  });
  try {
    const { values, positionals } = parseArgs({
      args,
      options: Object.fromEntries(known),
      allowPositionals: true,
    });
    if (!values.help) refuseMore(name, command, positionals);
    return { values: values as Context["options"], words: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = error as Error;
    const [, unknown] = /^Unknown option '--([^']*)'/.exec(message) ?? [];
    const names = Object.keys(options);
    const suggestion = unknown ? didYouMean(unknown, names, (option) => `--${option}`) : "";
    throw new UsageError(unknown ? `Unknown option '--${unknown}'.${suggestion}` : message);
  }
}

/** Refuses extra words: an unquoted text would lose all but its first. @throws UsageError */
function refuseMore(name: string, { takes }: Command, words: string[]): void {
  if (takes.includes("...")) return;
  const extra = words[takes.split(/\s+/).filter(Boolean).length];
  if (extra === undefined) return;
  throw new UsageError(`Unexpected argument "${extra}" for ${name}: put a text with spaces in quotes.`);
}
