import { readFile } from "node:fs/promises";
import type { Operation } from "../../lib/contract/contract.ts";
import { didYouMean } from "../../packages/client/cli/nearest.ts";
import { listTenants } from "../../services/identity/tenants/tenants.contract.ts";

/** Options of every command. */
export const COMMON = ["tenant", "url", "email", "password-file", "code"];
/** The arguments after the command: options by name, and the other words in order. */
export interface Typed {
  options: Record<string, string | undefined>;
  flags: Set<string>;
  words: string[];
}

export interface Command {
  /** The command's arguments, as the help shows them. */
  takes: string;
  does: string;
  run(target: Target, typed: Typed): Promise<unknown>;
}

/** Returns the names of a command's own options that take a value. */
export const ownOptions = ({ takes }: Command) =>
  Array.from(takes.matchAll(/--([\w-]+) /g), ([, option]) => option as string);

/** Returns the names of those that take none: they are last in their brackets. */
export const ownFlags = ({ takes }: Command) =>
  Array.from(takes.matchAll(/--([\w-]+)\]/g), ([, flag]) => flag as string);

/** Refuses unknown arguments: ignoring one could change the meaning. @throws AdminError */
export function refuseMore(name: string, command: Command, { options, words }: Typed): void {
  const known = [...COMMON, ...ownOptions(command), ...ownFlags(command)];
  const other = Object.keys(options).find((option) => !known.includes(option));
  if (other !== undefined)
    throw new AdminError(
      `${name} has no option --${other}.${didYouMean(other, known, (each) => `--${each}`)} Allowed: ${known.map((each) => `--${each}`).join(", ")}.`,
    );
  const taken = command.takes
    .replace(/\[?--[\w-]+( [^\s[]+|\])/g, "")
    .split(" ")
    .filter(Boolean);
  const extra = words[taken.length];
  if (extra !== undefined) throw new AdminError(`Unexpected argument "${extra}" for ${name}.`);
}

/** @throws AdminError if missing */
export function option({ options }: Typed, name: string): string {
  const value = options[name];
  if (value === undefined) throw new AdminError(`--${name} is required.`);
  return value;
}

/** @throws AdminError if missing */
export function word({ words }: Typed, at: number, name: string): string {
  const value = words[at];
  if (value === undefined) throw new AdminError(`${name} is required.`);
  return value;
}

/** Returns the content of an option's file. @throws AdminError with its name but never its content */
export const readGiven = (name: string, file: string) =>
  readFile(file, "utf8").catch((err: Error): never => {
    throw new AdminError(`--${name}: ${err.message}`);
  });

type Row = Record<string, unknown>;

const PAGE = 200;

/** Returns all rows of a list, page by page. */
export async function all(target: Target, op: Operation, name: string, params: Row = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await target.call(op, { ...params, offset: rows.length, limit: PAGE });
    const listed = page[name] as Row[];
    rows.push(...listed);
    if (listed.length < PAGE) return rows;
  }
}

/** Returns the tenant that the first word names. @throws AdminError */
export async function tenantOf(target: Target, typed: Typed): Promise<Row> {
  const slug = word(typed, 0, "SLUG");
  const tenant = (await all(target, listTenants, "tenants")).find((each) => each.slug === slug);
  if (!tenant) throw new AdminError(`There is no tenant "${slug}". The command tenants list shows all.`);
  return tenant;
}

/** Returns what may follow typed words. The last word may be incomplete. */
export function candidates(words: string[], commands: Record<string, Command>): string[] {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((each) => !each.startsWith("-"));
  const [group, action] = before;
  const command = commands[`${group} ${action}`];
  const options = [...(command ? [...ownOptions(command), ...ownFlags(command)] : []), ...COMMON];
  const names = before.length < 2 ? namesIn(commands, group) : [];
  const following = typed.startsWith("-") ? options.map((name) => `--${name}`) : names;
  return following.filter((each) => each.startsWith(typed));
}

/** Returns the actions of a group; without one the groups. */
export function namesIn(commands: Record<string, Command>, group?: string): string[] {
  const pairs = Object.keys(commands).map((name) => name.split(" ") as [string, string?]);
  if (group === undefined) return [...new Set(pairs.map(([first]) => first))];
  return pairs.flatMap(([first, second = []]) => (first === group ? second : []));
}

/** Target of the command line: a running server, or the store. */
export interface Target {
  /** Runs an operation. Throws an AdminError with the reason if it fails. */
  call(op: Operation, params: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The identity given on the command line. */
export interface Identity {
  /** The server's address; default: the one in `credentials.json`. */
  url?: string | undefined;
  /** The slug of the tenant. */
  tenant?: string | undefined;
  email?: string | undefined;
  password?: string | undefined;
  /** Of the second factor. */
  code?: string | undefined;
}

/** A one-line message for the operator. */
export class AdminError extends Error {
  /** The server's, if it refused. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
