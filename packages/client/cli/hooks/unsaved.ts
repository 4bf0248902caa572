import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { quoteAsData } from "../../generated/quoted.ts";
import type { Host } from "../environment.ts";
import { readJson, writeJson } from "../profiles.ts";
import type { Tool } from "./input.ts";
import { cut, oneLine } from "./text.ts";

/** A file for each session whose handoff is being saved, or was not: a tool may end its hook before it can say so. */
const folderOf = ({ profilesFile }: Host) => join(dirname(profilesFile), "unsaved");
const MOST_OF_REASON = 200;

interface Unsaved {
  root: string;
  at: string;
  /** The process that is saving it. */
  pid: number;
  reason?: string;
}

/** Runs what saves a session, so that the project's next session learns of it if it fails, or does not end. */
export async function noteUnsaved(
  host: Host,
  { tool, sessionId, root }: { tool: Tool; sessionId: string; root: string },
  save: () => Promise<void>,
): Promise<void> {
  const digest = createHash("sha256")
    .update(JSON.stringify([tool, sessionId]))
    .digest("hex");
  const file = join(folderOf(host), `${digest}.json`);
  const unsaved: Unsaved = { root, at: new Date().toISOString(), pid: process.pid };
  await write(file, unsaved);
  try {
    await save();
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== "AbortError") unsaved.reason = cut(oneLine(message), MOST_OF_REASON);
    await write(file, unsaved);
    throw error;
  }
  await rm(file, { force: true }).catch(() => {});
}

/** Returns the report for the next session on sessions of a project that were not saved, once. */
export async function unsavedIn(host: Host, root: string): Promise<string | undefined> {
  const folder = folderOf(host);
  const names = await readdir(folder).catch(() => []);
  const lines: string[] = [];
  for (const name of names.filter((each) => each.endsWith(".json"))) {
    const file = join(folder, name);
    const unsaved = await readJson<Unsaved>(file).catch(() => undefined);
    if (unsaved?.root !== root) continue;
    if (unsaved.reason === undefined && isRunning(unsaved.pid)) continue;
    lines.push(`${unsaved.at}: ${unsaved.reason ?? "the tool ended before it was saved"}`);
    await rm(file, { force: true }).catch(() => {});
  }
  if (lines.length === 0) return undefined;
  return `Sensorium could not save what sessions of this project did last: tell the user.\n\n${quoteAsData(lines.sort().join("\n"))}`;
}

/** A folder that cannot be written to is no reason not to save the handoff itself. */
async function write(file: string, unsaved: Unsaved): Promise<void> {
  await writeJson(file, unsaved).catch(() => {});
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
