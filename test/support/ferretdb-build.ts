import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { runTool, ToolsUnavailable } from "./tools.ts";

const SOURCES = join(import.meta.dirname, "ferretdb");
const FILES = ["go.mod", "go.sum", "main.go", "ferretdb.patch"];
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/sensorium");
/** By what it is made of, so that another one is not taken for it. */
const made = createHash("sha256");
for (const file of FILES) made.update(readFileSync(join(SOURCES, file)));
export const FERRETDB = join(CACHE, `ferretdb-${made.digest("hex").slice(0, 12)}`);
/** FerretDB 1.24 needs it. */
const GO_MINOR = 24;

export const hasFerret = () => existsSync(FERRETDB);

/** Has Go build FerretDB with our patch. @throws ToolsUnavailable */
export async function getFerret(say: (line: string) => void = () => {}): Promise<void> {
  if (hasFerret()) return;
  await checkGo();
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "ferretdb-build-"));
  try {
    for (const file of FILES) await cp(join(SOURCES, file), join(folder, file));
    say("building FerretDB, once: Go gets its modules");
    await run("go", ["mod", "vendor"], folder);
    await run("git", ["apply", "ferretdb.patch"], folder);
    say("building FerretDB: Go compiles, which takes a minute or two");
    const flags = ["-mod=vendor", "-v", "-ldflags=-s -w", "-tags=ferretdb_no_postgresql"];
    await run("go", ["build", ...flags, "-o", "ferretdb", "."], folder, say);
    await rename(join(folder, "ferretdb"), FERRETDB);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without it, an older Go might fetch a newer one. */
async function checkGo(): Promise<void> {
  const version = await run("go", ["env", "GOVERSION"], SOURCES);
  const [, minor] = /go1\.(\d+)/.exec(version) ?? [];
  if (Number(minor) < GO_MINOR)
    throw new ToolsUnavailable(`FerretDB needs Go 1.${GO_MINOR} or newer, found ${version}`);
}

/** @param say is told how many packages are compiled while it goes on */
function run(command: string, args: string[], cwd: string, say?: (line: string) => void): Promise<string> {
  // No repository around the folder: git would take it for a part of it.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: CACHE, GOTOOLCHAIN: "local" };
  return runTool(command, args, { cwd, env }, (output) =>
    say?.(`building FerretDB: ${output.trim().split("\n").length} packages compiled`),
  );
}
