import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { runTool, ToolsUnavailable } from "./tools.ts";

const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(ROOT, "node_modules/.cache/sensorium/python");
/** Packages with exact versions, and an environment with nothing else. */
export type PythonPackages = { name: string; requirements: readonly string[] };

/** Needs of the tests of all Python projects. */
const OF_TESTS: PythonPackages = {
  name: "Python packages of the tests",
  requirements: requirementsIn("packages/python/requirements-test.txt"),
};

export function requirementsIn(file: string): string[] {
  return readFileSync(join(ROOT, file), "utf8").split("\n").filter(Boolean);
}

/** By the requirements, so that an environment with other versions is not taken for this one. */
function environment({ requirements }: PythonPackages): string {
  const digest = createHash("sha256").update(requirements.join("\n")).digest("hex").slice(0, 12);
  return join(CACHE, digest);
}

export const pythonOf = (packages: PythonPackages) => join(environment(packages), "bin/python");
export const pythonOfTests = () => pythonOf(OF_TESTS);

export const hasPython = (packages = OF_TESTS) => existsSync(join(environment(packages), "complete"));

/** Makes an environment from PyPI, once. @throws ToolsUnavailable if PyPI does not answer */
export async function getPython(say: (line: string) => void, packages = OF_TESTS): Promise<void> {
  if (hasPython(packages)) return;
  const folder = environment(packages);
  say(`installing the ${packages.name}, once`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  await runTool("python3", ["-m", "venv", folder]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
  await runTool(pythonOf(packages), [...pip, ...packages.requirements]);
  await mkdir(join(folder, "complete.new"));
  await rename(join(folder, "complete.new"), join(folder, "complete"));
}

/** Runs a command in a folder of the checkout. */
export async function runPython(
  command: string,
  args: string[],
  { folder = ".", env = {} }: { folder?: string; env?: Record<string, string> },
): Promise<{ code: number | null; output: string }> {
  const options = { cwd: join(ROOT, folder), env: { ...process.env, ...env } };
  const child = await startChild(command, args, options).catch((err: Error) => {
    throw new ToolsUnavailable(`${command}: ${err.message}`);
  });
  const { code } = await child.exited;
  return { code, output: child.output() };
}
