import type { Command } from "./command.ts";
import { actionsOf, COMMANDS, groups, singular } from "./commands.ts";
import { COMMON } from "./help.ts";
import { didYouMean } from "./nearest.ts";

/** The meaning of a command line. */
export type Found =
  | { kind: "command"; name: string; command: Command; rest: string[] }
  | { kind: "group"; group: string }
  | { kind: "overview" }
  | { kind: "misuse"; message: string; usage: string; hint: string };

const HELP = ["--help", "-h"];
/** Actions that answer to another name too. */
const ALSO: Record<string, string> = { get: "show", view: "show", ls: "list" };

/** Finds the command among words and common options, in any order. */
export function find(args: string[]): Found {
  const [before, first, after] = split(args);
  if (first === undefined) {
    if (args.length === 0 || before.some((arg) => HELP.includes(arg))) return { kind: "overview" };
    return unknownCommand("COMMAND is missing.");
  }
  if (first === "help") return about(after);
  if (Object.hasOwn(COMMANDS, first)) return commandNamed(first, [...before, ...after]);
  const group = singular(first);
  const actions = actionsOf(group);
  if (actions.length === 0)
    return unknownCommand(`"${first}" is not a command.${didYouMean(first, groups())}`);
  return inGroup(group, actions, before, after);
}

function inGroup(group: string, actions: string[], before: string[], args: string[]): Found {
  const [between, typed, after] = split(args);
  const options = [...before, ...between];
  if (typed === undefined || typed.startsWith("-")) {
    const wantsHelp = [...before, ...args].some((arg) => HELP.includes(arg));
    if (wantsHelp || !actions.includes("list")) return { kind: "group", group };
    return commandNamed(`${group} list`, [...before, ...args]);
  }
  const action = actions.includes(typed) ? typed : (ALSO[typed] ?? typed);
  if (actions.includes(action)) return commandNamed(`${group} ${action}`, [...options, ...after]);
  const expected = `expected ${actions.join(", ")}.${didYouMean(typed, actions)}`;
  return {
    kind: "misuse",
    message: `${group} ${typed}: ${expected}`,
    usage: `sensorium ${group} COMMAND`,
    hint: `Usage: sensorium ${group} COMMAND\nsensorium ${group} --help for details.`,
  };
}

/** `help run create` */
function about(args: string[]): Found {
  const [, first, rest] = split(args);
  if (first === undefined) return { kind: "overview" };
  const found = find([first, ...rest.filter((each) => !each.startsWith("-")), "--help"]);
  return found.kind === "command" ? { ...found, rest: ["--help"] } : found;
}

function commandNamed(name: string, rest: string[]): Found {
  return { kind: "command", name, command: COMMANDS[name] as Command, rest };
}

function unknownCommand(message: string): Found {
  const hint = `Commands: ${groups().join(", ")}. Run sensorium help for details.`;
  return { kind: "misuse", message, usage: "sensorium COMMAND", hint };
}

/** Splits before the first word that is neither a common option nor its value. */
function split(args: string[]): [string[], string | undefined, string[]] {
  let at = 0;
  for (let arg = args[at]; arg !== undefined; arg = args[at]) {
    const [option = "", given] = arg.split("=");
    const name = option.slice(2);
    if (arg !== "-h" && !(option.startsWith("--") && Object.hasOwn(COMMON, name))) break;
    at += COMMON[name]?.value && given === undefined ? 2 : 1;
  }
  return [args.slice(0, at), args[at], args.slice(at + 1)];
}
