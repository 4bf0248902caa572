import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { env } from "node:process";

/** What the environment says: no other file of the command line reads it. */
export const GIVEN = {
  url: env.SENSORIUM_URL,
  apiKey: env.SENSORIUM_API_KEY,
  // Some programs pass on a variable that is not set as an empty one.
  profile: env.SENSORIUM_PROFILE || undefined,
  dataDir: env.DATA_DIR || undefined,
};

/** A relative one would be in whatever folder this runs in; its specification says to ignore it. */
const CONFIG_HOME = isAbsolute(env.XDG_CONFIG_HOME ?? "")
  ? (env.XDG_CONFIG_HOME as string)
  : join(homedir(), ".config");
const CONFIG_DIR = join(CONFIG_HOME, "sensorium");

/** The profiles file, readable by its owner only. */
export const PROFILES_FILE = join(CONFIG_DIR, "profiles.json");

/** The projects that a person chose for repositories on this machine. */
export const PROJECTS_FILE = join(CONFIG_DIR, "projects.json");

/** The credentials that a server started in this folder, or with this `DATA_DIR`, wrote for its owner. */
export const SERVER_FILE = join(GIVEN.dataDir ?? "data", "credentials.json");

/** What a command that is started gets of it: all. */
export const INHERITED: Readonly<NodeJS.ProcessEnv> = env;

/** Colours are for terminals (https://no-color.org), unless `FORCE_COLOR` asks for them. */
export const IS_COLOURED =
  !env.NO_COLOR && (process.stdout.isTTY === true || !["", "0", undefined].includes(env.FORCE_COLOR));
