import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import process from "node:process";
import type { Readable, Writable } from "node:stream";

/** The environment of the command line. */
export interface Io {
  env: Readonly<NodeJS.ProcessEnv>;
  /** Default: the process's own. */
  cwd?: string;
  home: string;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  /** Emits the names of signals. */
  signals: Pick<NodeJS.EventEmitter, "on" | "once" | "off">;
}

/** Returns what the process has: no other file of the command line reads its environment. */
export function ioOfProcess(): Io {
  const { env, stdout, stderr } = process;
  return {
    ...{ env, home: homedir(), stdout, stderr, signals: process },
    // Opened only to be read.
    get stdin() {
      return process.stdin;
    },
  };
}

/** The same, with what the environment says. */
export interface Host extends Io {
  given: Record<"url" | "apiKey" | "profile" | "dataDir", string | undefined>;
  /** The profiles file, readable by its owner only. */
  profilesFile: string;
  /** The projects that a person chose for repositories on this machine. */
  projectsFile: string;
  /** The credentials that a server started in this folder, or with this `DATA_DIR`, wrote for its owner; as it is shown. */
  serverFile: string;
  /** Colours are for terminals (https://no-color.org), unless `FORCE_COLOR` asks for them. */
  isColoured: boolean;
  /** Returns how to open a file whose name was typed. */
  pathOf(typed: string): string;
  /** Returns the name of the working folder. */
  folder(): string;
}

export function newHost(io: Io): Host {
  const { env, cwd, home, stdout, stderr, signals } = io;
  const { SENSORIUM_URL: url, SENSORIUM_API_KEY: apiKey, XDG_CONFIG_HOME = "" } = env;
  // Some programs pass on a variable that is not set as an empty one.
  const profile = env.SENSORIUM_PROFILE || undefined;
  const dataDir = env.DATA_DIR || undefined;
  // A relative one would be in whatever folder this runs in; its specification says to ignore it.
  const configHome = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home, ".config");
  const configDir = join(configHome, "sensorium");
  return {
    ...{ env, home, stdout, stderr, signals, ...(cwd !== undefined && { cwd }) },
    get stdin() {
      return io.stdin;
    },
    given: { url, apiKey, profile, dataDir },
    profilesFile: join(configDir, "profiles.json"),
    projectsFile: join(configDir, "projects.json"),
    serverFile: join(dataDir ?? "data", "credentials.json"),
    isColoured: !env.NO_COLOR && (stdout.isTTY === true || !["", "0", undefined].includes(env.FORCE_COLOR)),
    pathOf: (typed) => (cwd === undefined ? typed : resolve(cwd, typed)),
    folder: () => cwd ?? process.cwd(),
  };
}
