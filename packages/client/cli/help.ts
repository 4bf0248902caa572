import { paint } from "./colour.ts";
import type { Command, Option } from "./command.ts";
import { actionsOf, COMMANDS, SECTIONS } from "./commands.ts";

/** Options of every command. */
export const COMMON: Record<string, Option> = {
  json: { means: "print JSON, errors included" },
  query: { value: "EXPR", means: "print what this JMESPath expression selects from the JSON" },
  timezone: {
    value: "NAME",
    means: "show times in this IANA time zone, and read --cron in it; default: UTC",
  },
  "idempotency-key": {
    value: "TEXT",
    means: "do it once: a repetition with the same key, within a day, gets the first answer",
  },
  as: { value: "agent|person", means: "who to be, where both may" },
  url: { value: "URL", means: "the address of the service" },
  profile: { value: "NAME", means: "a saved profile" },
  help: { short: "h", means: "show this help" },
};

/** Returns all options of a command. */
export function optionsOf({ options, raw }: Command): Record<string, Option> {
  return raw ? {} : { ...options, ...COMMON };
}

/** Lists all commands: each of one word, and the groups with their actions. */
export function overview(width = USUAL_WIDTH): string {
  const sections = Object.entries(SECTIONS).map(([title, commands]) => {
    const names = new Set(Object.keys(commands).map((name) => name.split(" ")[0] as string));
    const rows = Array.from(names, (name): [string, string] => [name, aboutName(name)]);
    return `${paint("bold", title)}\n\n${table(rows, width)}`;
  });
  return `sensorium COMMAND\n\n${sections.join("\n")}\n${ABOUT.map((each) => `${wrap(each, width)}\n`).join("")}`;
}

const ABOUT = [
  "sensorium COMMAND --help describes a command or a group. Common options: --json, --query EXPR, --timezone NAME, " +
    "--idempotency-key TEXT, --as agent|person, --url, --profile NAME. Texts and JSON may be @FILE, or - for standard input.",
  "The address and the key come from --url or --profile, SENSORIUM_URL and SENSORIUM_API_KEY, SENSORIUM_PROFILE, " +
    "credentials.json in DATA_DIR, the profile saved by `connect` and `login`, or data/credentials.json of a server that was " +
    "started in this folder, in this order.",
  'With --json an error is {"error": {"code", "message"}} on standard error, with "details" and "request_id" where known.',
  "Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped by Ctrl-C.",
];

function aboutName(name: string): string {
  const { does } = COMMANDS[name] ?? {};
  return does ?? actionsOf(name).join(", ");
}

/** Describes one command and its options. */
export function helpFor(name: string, command: Command, width = USUAL_WIDTH): string {
  const options = table(
    Object.entries(optionsOf(command)).map(([option, { value = "", short, means }]) => [
      `${short && option !== "help" ? `-${short}, ` : ""}--${option} ${value}`.trim(),
      means,
    ]),
    width,
  );
  const examples = (command.examples ?? []).map((example) => `  sensorium ${example}\n`);
  return [
    `sensorium ${usageOf(name, command)}\n\n${wrap(`${command.does}${callerOf(command)}`, width)}\n`,
    options && `\n${options}`,
    examples.length ? `\n${paint("bold", "Examples")}\n\n${examples.join("")}` : "",
  ].join("");
}

/** Lists the commands of a group. */
export function groupHelp(group: string, width = USUAL_WIDTH): string {
  const rows = actionsOf(group).map((action): [string, string] => {
    const command = COMMANDS[`${group} ${action}`] as Command;
    return [usageOf(action, command), command.does];
  });
  return `sensorium ${group} COMMAND\n\n${table(rows, width)}\nsensorium ${group} COMMAND --help describes one.\n`;
}

const CALLERS: Record<string, string> = {
  agent: " For agents.",
  person: " For people: `sensorium login`.",
  "person agent": " As the person who signed in, or else as the agent.",
};

function callerOf({ as = [] }: Command): string {
  return CALLERS[as.join(" ")] ?? "";
}

/** Longer words have their meaning on the next line. */
const MAX_WIDTH = 24;

function table(rows: [string, string][], screen: number): string {
  const fitting = rows.map(([shown]) => shown.length).filter((length) => length <= MAX_WIDTH);
  const width = Math.max(0, ...fitting);
  const indent = " ".repeat(width + 4);
  const lines = rows.map(([shown, means]) => {
    const gap = shown.length > width ? `\n${indent}` : " ".repeat(width + 2 - shown.length);
    return `  ${shown}${gap}${wrap(means, screen - indent.length).replaceAll("\n", `\n${indent}`)}\n`;
  });
  return lines.join("");
}

/** Where nobody sees a terminal's width. */
const USUAL_WIDTH = 120;
const LEAST_WIDTH = 20;

/** Breaks a text between words into lines of at most this width. */
function wrap(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= Math.max(width, LEAST_WIDTH))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}

export function usageOf(name: string, { takes }: Command): string {
  return `${name} ${takes}`.trim();
}
