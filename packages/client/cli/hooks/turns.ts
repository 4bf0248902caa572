import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../environment.ts";
import { readJson, writeJson } from "../profiles.ts";
import type { HookInput } from "./input.ts";
import { isRunning } from "./unsaved.ts";

/** A file for each delivery that was pushed into a session: by it the session's hooks tell the bridge of the turn. */
const folderOf = ({ profilesFile }: Host) => join(dirname(profilesFile), "turns");
const LOOK_MS = 500;
/** How Claude Code quotes a message of a channel, whose first field is the id. The sender's text comes later. */
const QUOTED = /^<channel source="[^"]*" delivery_id="([\w-]+)"/;

interface Pushed {
  /** The bridge's process. */
  pid: number;
  /** The turn that took it. */
  session?: string;
  prompt?: string;
  /** Whether that turn ended without an error. Undefined while it is under way. */
  handled?: boolean;
}

const fileOf = (host: Host, id: string) => join(folderOf(host), `${id}.json`);

/** A delivery that a turn is to handle. */
export interface Watched {
  /** Looks again at once. */
  look: () => Promise<void>;
  forget: () => Promise<void>;
}

/** Calls `ended` with whether the turn that took the delivery ended without an error. @throws Error if it cannot write */
export async function watchTurn(host: Host, id: string, ended: (handled: boolean) => void): Promise<Watched> {
  const file = fileOf(host, id);
  await writeJson(file, { pid: process.pid } satisfies Pushed);
  const look = async () => {
    const { handled } = (await read(file)) ?? {};
    if (handled !== undefined) ended(handled);
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    look,
    async forget() {
      clearInterval(timer);
      await rm(file, { force: true }).catch(() => {});
    },
  };
}

/** Removes the files of bridges that were killed. */
export async function forgetLeft(host: Host): Promise<void> {
  for (const [file, { pid }] of await all(host))
    if (!isRunning(pid)) await rm(file, { force: true }).catch(() => {});
}

/** Notes that a turn begins with a delivery, or takes it while it is under way. */
export async function noteTaken(host: Host, { prompt = "", promptId, sessionId }: HookInput): Promise<void> {
  const [, id] = QUOTED.exec(prompt) ?? [];
  if (id === undefined || promptId === undefined) return;
  const file = fileOf(host, id);
  const pushed = await read(file);
  // Otherwise its session acknowledges it by a tool.
  if (pushed) await writeJson(file, { pid: pushed.pid, session: sessionId, prompt: promptId });
}

/** Notes that a turn ended without an error. Events of an earlier turn that did not end so are not handled. */
export async function noteEnded(host: Host, { promptId, sessionId }: HookInput): Promise<void> {
  for (const [file, pushed] of await all(host)) {
    const { session, prompt, handled } = pushed;
    if (session !== sessionId || handled !== undefined) continue;
    await writeJson(file, { ...pushed, handled: prompt === promptId });
  }
}

async function all(host: Host): Promise<[string, Pushed][]> {
  const folder = folderOf(host);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
  const found = await Promise.all(files.map(async (file) => [file, await read(file)] as const));
  return found.filter((each): each is [string, Pushed] => each[1] !== undefined);
}

/** A file that something else has damaged says nothing. */
const read = (file: string) => readJson<Pushed>(file).catch(() => undefined);
