import { homedir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";

/** What the environment says: no other file of the command line reads it. */
export const GIVEN = {
  url: env.SENSORIUM_URL,
  apiKey: env.SENSORIUM_API_KEY,
  // Some programs pass on a variable that is not set as an empty one.
  profile: env.SENSORIUM_PROFILE || undefined,
};

/** The profiles file, readable by its owner only. */
export const PROFILES_FILE = join(
  env.XDG_CONFIG_HOME || join(homedir(), ".config"),
  "sensorium",
  "profiles.json",
);

/** The credentials that a server started in this folder, or with this `DATA_DIR`, wrote for its owner. */
export const SERVER_FILE = join(env.DATA_DIR || "data", "credentials.json");

/** Colours are for terminals (https://no-color.org), unless `FORCE_COLOR` asks for them. */
export const IS_COLOURED =
  !env.NO_COLOR && (process.stdout.isTTY === true || !["", "0", undefined].includes(env.FORCE_COLOR));
