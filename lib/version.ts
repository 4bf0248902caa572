import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const manifest = createRequire(import.meta.url)("../package.json") as { version: string; gitHead?: string };

export const VERSION = manifest.version;

const ROOT = join(import.meta.dirname, "..");
const SHORT = 8;

/** Returns the commit that this code is of: a released package names it, and a checkout has it. Null without either. */
export function commitOf(): string | null {
  if (manifest.gitHead) return manifest.gitHead;
  // A package may be installed within a checkout of something else.
  if (!existsSync(join(ROOT, ".git"))) return null;
  try {
    const git = execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return git.toString().trim();
  } catch {
    return null;
  }
}

let build: string | undefined;

/** Returns the version with the commit, such as `1.2.0+1a2b3c4d`: what nodes of two builds differ in. */
export function buildVersion(): string {
  build ??= [VERSION, commitOf()?.slice(0, SHORT)].filter(Boolean).join("+");
  return build;
}
