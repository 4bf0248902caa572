import { originOf as serviceAt } from "../client.ts";
import { GIVEN, PROFILES_FILE, SERVER_FILE } from "./environment.ts";
import { type Profile, readJson, readProfiles } from "./profiles.ts";
import { Failure, UsageError } from "./usage.ts";

export interface Settings {
  /** The profile's name, whether it exists or not. */
  name: string;
  /** What applies: of the saved profile only what is for this address. */
  profile: Profile;
  /** Descriptions of where the address and the key come from. */
  from: { url: string; key: string };
  /** Where a key was looked for, and what was there. */
  looked: string[];
}

const DEFAULT_URL = "http://127.0.0.1:3000";

interface Typed {
  url?: string;
  profile?: string;
  /** The profile may be missing. */
  mayBeNew?: boolean;
}

interface Server {
  base_url: string;
  agent: { api_key: string };
}

/** Reads the address and the key from the options, else the environment, the profile, or a server started here. */
export async function readSettings(typed: Typed): Promise<Settings> {
  const { name, saved } = await savedProfile(typed);
  // A folder provides the address for its own key only: it must not redirect another key.
  const server = saved?.api_key || GIVEN.apiKey ? undefined : await readJson<Server>(SERVER_FILE);
  const [url, urlFrom] = first(
    [typed.url, "--url"],
    [GIVEN.url, "SENSORIUM_URL"],
    [saved?.url, `the profile ${name}`],
    [server?.base_url, SERVER_FILE],
    [DEFAULT_URL, "the default"],
  );
  // A key stored for one address is never sent to another.
  const origin = originOf(url as string);
  const isFor = (kept: string | undefined) => kept !== undefined && originOf(kept) === origin;
  const own = isFor(saved?.url) ? saved : undefined;
  const [api_key, keyFrom] = first(
    [GIVEN.apiKey, "SENSORIUM_API_KEY"],
    [own?.api_key, `the profile ${name}`],
    [isFor(server?.base_url) ? server?.agent.api_key : undefined, SERVER_FILE],
  );
  const session_id = keyFrom.startsWith("the profile") ? own?.session_id : undefined;
  const profile = {
    url: url as string,
    ...(api_key && { api_key }),
    ...(session_id && { session_id }),
    ...(own?.person && { person: own.person }),
  };
  const inProfile = own ? "without a key" : saved ? `for ${saved.url}` : "not there";
  const inFolder = server ? `for ${server.base_url}` : "not there";
  const looked = [
    "SENSORIUM_API_KEY: not set",
    `profile ${name} in ${PROFILES_FILE}: ${inProfile}`,
    `${SERVER_FILE}: ${inFolder}`,
  ];
  return { name, profile, from: { url: urlFrom, key: keyFrom }, looked };
}

/** @throws Failure if a profile that was asked for is missing */
async function savedProfile({ profile, mayBeNew }: Typed) {
  const profiles = await readProfiles();
  const named = profile ?? GIVEN.profile;
  const current = Object.keys(profiles).find((each) => profiles[each]?.current);
  const name = named ?? current ?? "default";
  const saved = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (named && !saved && !mayBeNew) {
    const remedy = `run \`sensorium connect --profile ${name}\` or \`sensorium login --profile ${name}\``;
    throw new Failure(`No profile ${name} in ${PROFILES_FILE}: ${remedy}.`, "unknown_profile");
  }
  return { name, saved };
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
