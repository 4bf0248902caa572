import { adminCandidates } from "./admin.ts";
import type { Command } from "./command.ts";
import { actionsOf, COMMANDS, groups, singular } from "./commands.ts";
import { SHELLS } from "./completion.ts";
import { COMMON, optionsOf } from "./help.ts";

/** Returns what may follow typed words. The last word may be incomplete. */
export function candidates(words: string[]): string[] {
  if (words[0] === "admin" && words.length > 1) return adminCandidates(words.slice(1));
  const typed = words.at(-1) ?? "";
  const begins = (name: string) => name.startsWith(typed);
  return following(words.slice(0, -1), typed).filter(begins);
}

function following(before: string[], typed: string): string[] {
  const [first, second] = before.filter((each) => !each.startsWith("-"));
  if (first === undefined) return typed.startsWith("-") ? shown(Object.keys(COMMON)) : [...groups(), "help"];
  if (first === "help") return second === undefined ? groups() : actionsOf(singular(second));
  const actions = actionsOf(singular(first));
  const name = actions.length ? `${singular(first)} ${second}` : first;
  if (actions.length && second === undefined && !typed.startsWith("-")) return actions;
  const command = Object.hasOwn(COMMANDS, name) ? (COMMANDS[name] as Command) : undefined;
  const options = command ? optionsOf(command) : COMMON;
  const open = options[before.at(-1)?.replace(/^--/, "") ?? ""];
  if (open?.value && before.at(-1)?.startsWith("--")) return valuesOf(open.value);
  if (typed.startsWith("-")) return shown(Object.keys(options));
  return name === "completion" ? SHELLS : [];
}

const shown = (names: string[]) => names.map((name) => `--${name}`);

/** The values of an option with a fixed set, `a|b`. */
function valuesOf(value: string): string[] {
  return value.includes("|") ? value.split("|") : [];
}
