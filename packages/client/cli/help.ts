import type { Command, Option } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** Options of every command. */
export const COMMON: Record<string, Option> = {
  json: { means: "print JSON, errors included" },
  url: { value: "URL", means: "the address of the service" },
  profile: { value: "NAME", means: "the profile saved by connect" },
  help: { short: "h", means: "show this help" },
};

/** Lists all commands, one line each. */
export function overview(): string {
  const lines = Object.entries(COMMANDS).map(
    ([name, command]) => `  ${usageOf(name, command)}\n      ${command.does}\n`,
  );
  return `sensorium COMMAND

${lines.join("")}
sensorium COMMAND --help describes a command. Common options: --json, --url, --profile NAME. DATA, CONTENT,
--summary, --next, --payload and --note may be @FILE, or - for standard input. The address and the key come from --url,
SENSORIUM_URL and SENSORIUM_API_KEY, from the profile saved by \`connect\`, or from credentials.json in DATA_DIR,
by default ./data, of a server that was started in this folder.
With --json an error is {"error": {"code", "message"}} on standard error, with "details" and "request_id" where known.
Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped by Ctrl-C.
`;
}

/** Describes one command and its options. */
export function helpFor(name: string, command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON }).map(
    ([option, { value = "", means }]) => ({
      shown: `--${option} ${value}`.trim(),
      means,
    }),
  );
  const width = Math.max(
    ...options.map(({ shown }) => shown.length).filter((length) => length <= MAX_OPTION_WIDTH),
  );
  const lines = options.map(({ shown, means }) => {
    const gap = shown.length > width ? `\n${" ".repeat(width + 4)}` : " ".repeat(width + 2 - shown.length);
    return `  ${shown}${gap}${means}\n`;
  });
  return `sensorium ${usageOf(name, command)}\n\n${command.does}\n\n${lines.join("")}`;
}

/** Longer options have their meaning on the next line. */
const MAX_OPTION_WIDTH = 24;

export function usageOf(name: string, { takes }: Command): string {
  return `${name} ${takes}`.trim();
}

/** Returns the forms of a command that match what was typed. */
export function formsOf({ takes }: Command, [first]: string[]): string[][] {
  const forms = takes.split("|").map((form) => form.split(/\s+/).filter(Boolean));
  const meant = forms.filter(([action]) => action === first);
  return meant.length ? meant : forms;
}
