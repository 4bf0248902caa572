import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startAlone } from "./alone.ts";
import { versionsBefore } from "./needs.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** The files of a version before this one. */
export type FormerVersion = { folder: string; remove(): Promise<void> };

/** Checks out the latest version before this one that starts: a commit between two versions need not. */
export async function checkOutFormer(): Promise<FormerVersion> {
  const scratch = await mkdtemp(join(tmpdir(), "sensorium-former-"));
  const remove = () => rm(scratch, { recursive: true, force: true });
  let failure: unknown = new Error("there is no version before this one");
  for (const version of await versionsBefore()) {
    try {
      const folder = await checkOut(version, join(scratch, version.replaceAll("/", "-")));
      const tried = await startAlone({ env: { EMBEDDER: "none" }, root: folder });
      await tried.stop();
      return { folder, remove };
    } catch (error) {
      failure = error;
    }
  }
  await remove();
  throw failure;
}

/** A version's files, with the dependencies of this one; its own packages are its own. */
async function checkOut(version: string, folder: string): Promise<string> {
  const archive = `${folder}.tar`;
  await mkdir(folder);
  await run("git", ["archive", "--output", archive, version], { cwd: ROOT });
  await run("tar", ["-xf", archive, "-C", folder]);
  await rm(archive);
  const modules = join(ROOT, "node_modules");
  await mkdir(join(folder, "node_modules"));
  for (const entry of await readdir(modules, { withFileTypes: true })) {
    const link = entry.isSymbolicLink()
      ? await readlink(join(modules, entry.name))
      : join(modules, entry.name);
    await symlink(link, join(folder, "node_modules", entry.name));
  }
  return folder;
}
