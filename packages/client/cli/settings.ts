import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { env } from "node:process";
import { originOf as serviceAt } from "../client.ts";
import { Failure, UsageError } from "./usage.ts";

/** An installation and an identity in it. */
interface Profile {
  url: string;
  api_key?: string;
  /** The connected device, if `connect` created the key. */
  session_id?: string;
}

export interface Settings {
  profile: Profile;
  /** Descriptions of where the address and the key come from. */
  from: { url: string; key: string };
}

const DEFAULT_URL = "http://127.0.0.1:3000";
/** The credentials that a server started in this folder, or with this `DATA_DIR`, wrote for its owner. */
const SERVER_FILE = join(env.DATA_DIR || "data", "credentials.json");

/** The profiles file, readable by its owner only. */
export const PROFILES_FILE = join(
  env.XDG_CONFIG_HOME || join(homedir(), ".config"),
  "sensorium",
  "profiles.json",
);

interface Typed {
  url?: string;
  profile?: string;
  /** The profile may be missing. */
  mayBeNew?: boolean;
}

/** Reads the address and the key from the options, else the environment, the profile, or a server started here. */
export async function readSettings(typed: Typed): Promise<Settings> {
  const named = typed.profile ?? env.SENSORIUM_PROFILE;
  const name = named ?? "default";
  const kept = (await readProfiles())[name];
  if (named && !kept && !typed.mayBeNew) {
    throw new Failure(`No profile ${name}: run \`sensorium connect --profile ${name}\`.`, "unknown_profile");
  }
  // A folder provides the address for its own key only: it must not redirect another key.
  const server = kept || env.SENSORIUM_API_KEY ? undefined : await serverHere();
  const [url, urlFrom] = first(
    [typed.url, "--url"],
    [env.SENSORIUM_URL, "SENSORIUM_URL"],
    [kept?.url, `the profile ${name}`],
    [server?.base_url, SERVER_FILE],
    [DEFAULT_URL, "the default"],
  );
  // A key stored for one address is never sent to another.
  const origin = originOf(url as string);
  const keptFor = (of: string | undefined) => of !== undefined && originOf(of) === origin;
  const [api_key, keyFrom] = first(
    [env.SENSORIUM_API_KEY, "SENSORIUM_API_KEY"],
    [keptFor(kept?.url) ? kept?.api_key : undefined, `the profile ${name}`],
    [keptFor(server?.base_url) ? server?.agent.api_key : undefined, SERVER_FILE],
  );
  const session = keyFrom.startsWith("the profile") ? kept?.session_id : undefined;
  const profile = {
    url: url as string,
    ...(api_key && { api_key }),
    ...(session && { session_id: session }),
  };
  return { profile, from: { url: urlFrom, key: keyFrom } };
}

/** Saves a profile under a name. */
export async function saveProfile(name: string, profile: Profile): Promise<void> {
  const profiles = { ...(await readProfiles()), [name]: profile };
  await mkdir(dirname(PROFILES_FILE), { recursive: true, mode: 0o700 });
  await writeFile(PROFILES_FILE, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  // The mode above applies only to a new file.
  await chmod(PROFILES_FILE, 0o600);
}

/** @throws UsageError */
function originOf(url: string): string {
  try {
    return new URL(serviceAt(url)).origin;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

type Candidate = [string | undefined, string];

function first(...candidates: Candidate[]): Candidate {
  return candidates.find(([value]) => value) ?? [undefined, "nowhere"];
}

async function readProfiles(): Promise<Record<string, Profile>> {
  return (await readJson<Record<string, Profile>>(PROFILES_FILE)) ?? {};
}

function serverHere() {
  return readJson<{ base_url: string; agent: { api_key: string } }>(SERVER_FILE);
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`, "unreadable_file");
  }
}
