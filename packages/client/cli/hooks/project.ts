import { basename, join } from "node:path";
import { type Command, type Context, word } from "../command.ts";
import type { Host } from "../environment.ts";
import { didYouMean } from "../nearest.ts";
import { readJson, writeJson } from "../profiles.ts";
import { runCommand } from "../run-command.ts";
import { Failure } from "../usage.ts";

const GIT_WITHIN_MS = 1000;
/** Proposes the project of the service that a folder belongs to: `{"project": "KEY"}`. A person decides. */
const CONFIG_FILE = ".sensorium.json";
/** Allowed by the service, and safe to paste into a shell. */
const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export interface Project {
  /** The same on every machine, where there is a remote repository: handoffs are found by it. */
  name: string;
  /** The folder of the repository, or else the working directory. */
  root: string;
  branch?: string;
  /** The project of the service that a person chose. */
  key?: string;
  /** Another one that the repository proposes. */
  proposed?: string;
}

/** Projects of the service by the folder of the repository. */
type Chosen = Record<string, string>;

/** Returns the project of a working directory. @throws Failure if its configuration cannot be read */
export async function projectAt(host: Host, cwd: string): Promise<Project> {
  const [root, remote, branch] = await Promise.all([
    findRoot(cwd),
    git(cwd, "remote", "get-url", "origin"),
    git(cwd, "branch", "--show-current"),
  ]);
  const key = new Map(Object.entries(await readChosen(host))).get(root);
  const proposed = await keyIn(join(root, CONFIG_FILE));
  const name = key ?? (parseName(remote) || basename(root) || root);
  return {
    name,
    root,
    ...(branch && { branch }),
    ...(key && { key }),
    ...(proposed && proposed !== key && { proposed }),
  };
}

/** Returns what git prints; nothing if it fails, is missing or takes too long. */
async function git(cwd: string, ...args: string[]): Promise<string> {
  const chunks: Buffer[] = [];
  const signal = AbortSignal.timeout(GIT_WITHIN_MS);
  const stdout = (chunk: Buffer) => void chunks.push(chunk);
  const run = { command: ["git", "-C", cwd, ...args] as const, signal, graceMs: 0, stdout };
  const ended = await runCommand(run).catch(() => undefined);
  const succeeded = ended?.code === 0 && !("cause" in ended);
  return succeeded ? Buffer.concat(chunks).toString().trim() : "";
}

const findRoot = async (cwd: string) => (await git(cwd, "rev-parse", "--show-toplevel")) || cwd;

const readChosen = async ({ projectsFile }: Host) => (await readJson<Chosen>(projectsFile)) ?? {};

/** Returns `owner/repository`; never the rest of the address, which may contain a password. */
function parseName(remote: string): string {
  const [, name = ""] = /([^/:@]+\/[^/:@]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return name;
}

async function keyIn(file: string): Promise<string | undefined> {
  const config = await readJson<{ project?: unknown } | null>(file);
  if (config === undefined) return undefined;
  const { project } = config ?? {};
  if (typeof project === "string" && KEY.test(project.trim())) return project.trim();
  throw new Failure(`${file}: expected {"project": "KEY"}.`, "unreadable_file");
}

const use: Command = {
  takes: "KEY",
  does:
    "Files the handoffs of coding tools in this repository under a project of the service, and limits their briefs to " +
    "it; with - for KEY under none.",
  examples: ["project use checkout", "project use -"],
  async run(context) {
    const typed = word(context, 0, "KEY");
    const key = typed === "-" ? undefined : typed;
    if (key !== undefined) await requireProject(context, key);
    const { host } = context;
    const root = await findRoot(host.folder());
    const { [root]: _, ...others } = await readChosen(host);
    await writeJson(host.projectsFile, { ...others, ...(key !== undefined && { [root]: key }) });
    const told = key === undefined ? "no project of the service" : `the project ${key}`;
    context.print({ directory: root, project: key ?? null }, `Handoffs of ${root} are filed under ${told}.`);
  },
};

/** @throws Failure */
async function requireProject({ client, signal }: Context, wanted: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of client.projects.list.all({}, { signal })) keys.push(key);
  if (!keys.includes(wanted))
    throw new Failure(`No project ${wanted}.${didYouMean(wanted, keys)}`, "not_found");
}

export const PROJECT = { "project use": use };
