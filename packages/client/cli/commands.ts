import { admin } from "./admin.ts";
import { AGENTS } from "./agents.ts";
import { api } from "./api.ts";
import { APPROVALS } from "./approvals.ts";
import { BUNDLES } from "./bundles.ts";
import type { Command } from "./command.ts";
import { completion } from "./completion.ts";
import { connect } from "./connect.ts";
import { DEAD_LETTERS } from "./dead-letters.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { DOCUMENTS } from "./documents.ts";
import { evaluate } from "./eval.ts";
import { EVENTS } from "./event.ts";
import { listen, publish, tail } from "./events.ts";
import { HANDOFF } from "./handoff.ts";
import { hook } from "./hook.ts";
import { PROJECT } from "./hooks/project.ts";
import { INTEREST } from "./interest.ts";
import { login } from "./login.ts";
import { mcp } from "./mcp.ts";
import { MEMORIES } from "./memories.ts";
import { recall, remember } from "./memory.ts";
import { OUTPUTS } from "./outputs.ts";
import { PROFILE } from "./profile.ts";
import { REPLAYS } from "./replays.ts";
import { RESOURCE_COMMANDS } from "./resources.ts";
import { RUN } from "./run.ts";
import { SCHEDULES } from "./schedules.ts";
import { work } from "./work.ts";

/** The commands by section and name: `help`, the reference, completion and suggestions read this table. */
export const SECTIONS: Record<string, Record<string, Command>> = {
  "Who and where": { connect, login, ...PROFILE, doctor, demo },
  Events: { publish, listen, work, tail, ...SCHEDULES, ...EVENTS, ...DEAD_LETTERS, ...INTEREST },
  Knowledge: { remember, recall, eval: evaluate, ...MEMORIES, ...DOCUMENTS, ...OUTPUTS, ...BUNDLES },
  Work: { ...RUN, ...APPROVALS, ...HANDOFF },
  "Agents and senders": { ...AGENTS, ...REPLAYS, ...RESOURCE_COMMANDS },
  "Everything else": { api, mcp, hook, ...PROJECT, admin, completion },
};

/** The commands by name. */
export const COMMANDS: Record<string, Command> = Object.assign({}, ...Object.values(SECTIONS));

/** Returns the first words of all commands. */
export function groups(): string[] {
  return [...new Set(Object.keys(COMMANDS).map((name) => name.split(" ")[0] as string))];
}

/** Returns the second words of a group's commands; none for a command of one word. */
export function actionsOf(group: string): string[] {
  const names = Object.keys(COMMANDS).filter((name) => name.startsWith(`${group} `));
  return names.map((name) => name.slice(group.length + 1));
}

/** Groups are named in the singular, and answer to the plural too. */
export function singular(typed: string): string {
  const found = groups().find((name) => [name, `${name}s`, name.replace(/y$/, "ies")].includes(typed));
  return found ?? typed;
}
