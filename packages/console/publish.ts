import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";

const PAGE = "index.html";
/** The files of one build are stamped with one time; those of an earlier Vite were seconds apart. */
const SLACK_MS = 60_000;

/**
 * Puts what was built where it is served from, while it is served: first what the page asks for, then the page. What
 * the build before brought stays, for pages that are open; what is older goes.
 */
export function publish(built: string, served: string): void {
  const files = filesIn(built);
  if (!files.includes(PAGE)) throw new Error(`${built} holds no ${PAGE}`);
  const before = statSync(join(served, PAGE), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const now = new Date();
  for (const file of [...files.filter((each) => each !== PAGE), PAGE]) {
    utimesSync(join(built, file), now, now);
    mkdirSync(dirname(join(served, file)), { recursive: true });
    renameSync(join(built, file), join(served, file));
  }
  rmSync(built, { recursive: true });
  for (const file of filesIn(join(served, "assets"))) {
    const path = join(served, "assets", file);
    if (statSync(path).mtimeMs < before - SLACK_MS) rmSync(path);
  }
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return entries.filter((entry) => statSync(join(folder, entry)).isFile());
}
