import { execFile } from "node:child_process";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { readJson } from "../profiles.ts";
import { Failure } from "../usage.ts";

const run = promisify(execFile);
const GIT_WITHIN_MS = 1000;
/** Says which project of the service a folder belongs to: `{"project": "KEY"}`. */
const CONFIG_FILE = ".sensorium.json";

export interface Project {
  /** The same on every machine, where there is a remote repository: handoffs are found by it. */
  name: string;
  /** The folder of the repository, or else the working directory. */
  root: string;
  branch?: string;
  /** A project of the service. */
  key?: string;
}

/** Returns the project of a working directory. @throws Failure if its configuration cannot be read */
export async function projectAt(cwd: string): Promise<Project> {
  const git = async (...args: string[]) =>
    run("git", ["-C", cwd, ...args], { timeout: GIT_WITHIN_MS }).then(
      ({ stdout }) => stdout.trim(),
      () => "",
    );
  const [top, remote, branch] = await Promise.all([
    git("rev-parse", "--show-toplevel"),
    git("remote", "get-url", "origin"),
    git("branch", "--show-current"),
  ]);
  const root = top || cwd;
  const key = await keyIn(join(root, CONFIG_FILE));
  const name = key ?? (nameOf(remote) || basename(root) || root);
  return { name, root, ...(branch && { branch }), ...(key && { key }) };
}

/** Returns `owner/repository`; never the rest of the address, which may contain a password. */
function nameOf(remote: string): string {
  const [, name = ""] = /([^/:@]+\/[^/:@]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return name;
}

async function keyIn(file: string): Promise<string | undefined> {
  const config = await readJson<{ project?: unknown } | null>(file);
  if (config === undefined) return undefined;
  const { project } = config ?? {};
  if (typeof project === "string" && project.trim()) return project.trim();
  throw new Failure(`${file}: expected {"project": "KEY"}.`, "unreadable_file");
}
